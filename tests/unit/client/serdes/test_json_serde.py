"""JSON row by row, alone and with a registry."""

import datetime as dt

import pytest

from moldau.client.registry import Registry
from moldau.client.serdes.json_serde import JSON, JsonSerde
from unit.client.registry_server import registry_server


def test_values_are_written_without_spaces_and_read_again() -> None:
    data = JSON.serialize({"what": "pears", "counts": [1, 2], "day": dt.date(2020, 1, 2)})
    assert data == b'{"what":"pears","counts":[1,2],"day":"2020-01-02"}'
    assert JSON.deserialize(data) == {"what": "pears", "counts": [1, 2], "day": "2020-01-02"}
    with pytest.raises(ValueError, match="Expecting value"):
        JSON.deserialize(b"pears")


def test_a_registry_puts_its_header_before_values() -> None:
    with registry_server() as server:
        serde = JsonSerde({"type": "object"}, registry=Registry(server.url), subject="s")
        assert serde.serialize([]) == b"\0\0\0\0\1[]"
        assert serde.deserialize(b"\0\0\0\0\1[]") == []
        assert server.schemas == [{"schema": '{"type": "object"}', "schemaType": "JSON"}]
        with pytest.raises(ValueError, match="does not begin with the number of a schema"):
            serde.deserialize(b"[]")
        with pytest.raises(ValueError, match="a subject is needed"):
            JsonSerde(registry=Registry(server.url)).register()
