"""Keys and values that are numbers, by kcat's -s; kcat itself is asked in conformance."""

import pytest

from moldau.cli.kcat.packing import read_packing
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.registry import Registry
from moldau.client.serdes.avro import AvroSerde
from moldau.client.serdes.json_serde import JsonSerde
from unit.client.registry_server import registry_server

DATA = b"\0\0\0\1\0\2ab"


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (">ihs", b"12ab"),
        ("ih", b"12"),
        ("<ih s", b"16777216512ab"),
        ("q$", b"4295123298"),
        ("bBhHcc$", b"0012ab"),
    ],
)
def test_numbers_are_read(form: str, expected: bytes) -> None:
    assert read_packing([form])["key"](DATA) == expected


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("i$", "expected value end-of-input, but 4 bytes remaining"),
        ("qi", "i needs 4 bytes, but 0"),
    ],
)
def test_what_does_not_fit_is_told(form: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_packing([f"value={form}"])["value"](DATA)


def test_key_and_value_are_told_apart() -> None:
    assert set(read_packing(["key=i"])) == {"key"}
    assert set(read_packing(["key=i", "value=s"])) == {"key", "value"}


@pytest.mark.parametrize(("form", "reason"), [("avro", "-r URL of"), ("zz", "token 'z'")])
def test_what_is_not_known_is_named(form: str, reason: str) -> None:
    with pytest.raises(CommandFailed, match=reason):
        read_packing([form])


def test_values_of_a_registry_are_printed_as_json() -> None:
    with registry_server() as server:
        registry = Registry(server.url)
        serde = AvroSerde('["null","long"]', registry=registry, subject="s")
        people = JsonSerde({}, registry=registry, subject="j")
        found = read_packing(["value=avro", "key=json"], server.url)
        assert found["value"](serde.serialize(7)) == b'{"long": 7}'
        assert found["key"](people.serialize({"a": 1})) == b'{"a": 1}'
        with pytest.raises(ValueError, match="is JSON, not avro"):
            found["value"](people.serialize(1))
        with pytest.raises(CommandFailed, match="Schema not found"):
            found["value"](b"\0\0\0\0\x09")
        with pytest.raises(ValueError, match="number of a schema"):
            found["value"](b"plain")


def test_an_address_that_is_none_is_named() -> None:
    with pytest.raises(CommandFailed, match="-r: 'localhost' is no address"):
        read_packing(["avro"], "localhost")
