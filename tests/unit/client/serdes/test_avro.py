"""Avro row by row, alone and with a registry."""

import json

import pytest

from moldau.client.registry import Registry, Schema
from moldau.client.serdes.avro import AvroSerde
from unit.client.registry_server import registry_server

FIELDS = [{"name": "what", "type": "string"}, {"name": "count", "type": "int"}]
ORDER: dict[str, object] = {"type": "record", "name": "Order", "fields": FIELDS}
OLDER = {**ORDER, "fields": FIELDS[:1]}
NEWER = {
    **ORDER,
    "fields": [*FIELDS, {"name": "note", "type": ["null", "string"], "default": None}],
}
PEARS = {"what": "pears", "count": 2}


def test_records_are_written_and_read_again() -> None:
    serde = AvroSerde(json.dumps(ORDER))
    data = serde.serialize(PEARS)
    assert data == b"\x0apears\x04"
    assert serde.deserialize(data) == PEARS
    assert AvroSerde("string").deserialize(b"\x02a") == "a"


def test_what_is_no_record_is_an_error_that_says_so() -> None:
    with pytest.raises(ValueError, match="no value of this Avro schema"):
        AvroSerde(ORDER).serialize({"what": 3, "count": 2})
    with pytest.raises(ValueError, match="not Avro of this schema"):
        AvroSerde(ORDER).deserialize(b"\x0ape")
    with pytest.raises(ValueError, match="needs a schema, or a registry"):
        AvroSerde()


def test_records_of_another_version_are_read_in_this_one() -> None:
    with registry_server() as server:
        registry = Registry(server.url)
        written = AvroSerde(ORDER, registry=registry, subject="s").serialize(PEARS)
        assert written[:5] == b"\0\0\0\0\1"
        assert AvroSerde(NEWER, registry=registry).deserialize(written) == {**PEARS, "note": None}
        assert AvroSerde(OLDER, registry=registry).deserialize(written) == {"what": "pears"}
        with pytest.raises(ValueError, match="a subject is needed"):
            AvroSerde(ORDER, registry=registry).serialize(PEARS)


def test_without_a_schema_the_registry_says_what_is_read_and_written() -> None:
    with registry_server() as server:
        registry = Registry(server.url)
        old_id = registry.register("s", Schema(json.dumps(ORDER)))
        new_id = registry.register("s", Schema(json.dumps(NEWER)))
        serde = AvroSerde(registry=registry, subject="s")
        written = serde.serialize({**PEARS, "note": "n"})
        assert written[:5] == b"\0" + new_id.to_bytes(4, "big")
        assert serde.deserialize(written) == {**PEARS, "note": "n"}
        assert serde.deserialize(b"\0" + old_id.to_bytes(4, "big") + b"\x0apears\x04") == PEARS
        with pytest.raises(ValueError, match="or a subject that has one"):
            AvroSerde(registry=registry).register()


def test_the_registry_is_asked_once_for_each_schema() -> None:
    with registry_server() as server:
        writer = AvroSerde(ORDER, registry=Registry(server.url), subject="s")
        written = [writer.serialize(PEARS) for _ in range(3)]
        reader = AvroSerde(registry=Registry(server.url))
        assert [reader.deserialize(each) for each in written] == [PEARS] * 3
        assert server.asked == ["POST /subjects/s/versions", "GET /schemas/ids/1"]
