"""Values are read as JSON by the schemas that they name, of whatever kind these are."""

import json
from collections.abc import Iterator

import pytest

from moldau.client.registry import Reference, Registry, RegistryError, Schema, put_header
from moldau.client.serdes.avro import AvroSerde
from moldau.client.serdes.registered import RegisteredValues
from unit.client.registry_server import RegistryServer, registry_server

INNER = '{"type":"record","name":"I","fields":[{"name":"x","type":["null","long"]}]}'
OUTER = '{"type":"record","name":"O","fields":[{"name":"i","type":["null","I"]}]}'


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with registry_server() as server:
        yield server


def test_avro_names_the_types_of_unions(server: RegistryServer) -> None:
    registry = Registry(server.url)
    registry.register("i", Schema(INNER))
    used = [Reference("I", "i", 1)]
    serde = AvroSerde(OUTER, registry=registry, subject="o", references=used)
    values = RegisteredValues(Registry(server.url))
    data = serde.serialize({"i": {"x": 7}})
    assert values.kind_of(data) == "AVRO"
    assert json.loads(values.text(data)) == {"i": {"I": {"x": {"long": 7}}}}
    assert values.text(serde.serialize({"i": None})) == '{"i": null}'
    asked = len(server.asked)
    values.text(data)
    assert len(server.asked) == asked, "nothing is asked twice"
    with pytest.raises(ValueError, match="not Avro of its schema"):
        values.text(data[:6])


def test_json_is_on_one_line(server: RegistryServer) -> None:
    number = Registry(server.url).register("j", Schema("{}", "JSON"))
    values = RegisteredValues(Registry(server.url))
    assert values.text(put_header(number, '{"ä":\n1}'.encode())) == '{"ä": 1}'
    for bad in (b"", b"{}", put_header(number, b"{")):
        with pytest.raises(ValueError):  # noqa: PT011 - of json, or that there is no number
            values.text(bad)


def test_a_kind_that_is_not_known_is_said(server: RegistryServer) -> None:
    number = Registry(server.url).register("x", Schema("<a/>", "XML"))
    with pytest.raises(ValueError, match="unknown kind: XML"):
        RegisteredValues(Registry(server.url)).text(put_header(number, b""))


def test_what_is_read_is_written_back(server: RegistryServer) -> None:
    registry = Registry(server.url)
    registry.register("i", Schema(INNER))
    registry.register("j", Schema('{"type": "object"}', "JSON"))
    values = RegisteredValues(Registry(server.url))
    data = AvroSerde(INNER, registry=registry, subject="i").serialize({"x": 9007199254740993})
    assert values.data("i", values.text(data)) == data
    assert values.data(1, '{"x": null}')[5:] == b"\x00"
    assert values.data("j", '{"a": 1}')[5:] == b'{"a": 1}'
    for subject, text in (("i", '{"x": "no"}'), ("i", "{"), ("i", ""), ("j", "{")):
        with pytest.raises(ValueError, match=r"."):
            values.data(subject, text)
    with pytest.raises(RegistryError):
        values.data("absent", "{}")
