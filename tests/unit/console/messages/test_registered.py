"""Values of registered schemas, with a registry that runs."""

import struct
from collections.abc import Iterator

import pytest

from moldau.client.registry import Registry, Schema
from moldau.client.serdes.registered import RegisteredValues
from moldau.console.messages import registered as registered_module
from moldau.console.messages.registered import ListedValues, by_schema
from moldau.testing.broker import EmbeddedBroker
from unit.registry.started import started_registry


@pytest.fixture(scope="module")
def registry(broker: EmbeddedBroker) -> Iterator[Registry]:
    with started_registry(broker.bootstrap_servers) as running:
        yield Registry(running.url)


@pytest.fixture
def values(registry: Registry) -> RegisteredValues:
    return RegisteredValues(registry)


def registered(schema_id: int, body: bytes) -> bytes:
    return struct.pack(">bi", 0, schema_id) + body


async def test_a_value_is_read_by_the_schema_it_names(
    registry: Registry, values: RegisteredValues
) -> None:
    avro = registry.register("avro-value", Schema('"string"'))
    found = await by_schema(values, registered(avro, b"\x06abc"))
    assert found == {"schema": avro, "format": "AVRO", "text": '"abc"'}
    json = registry.register("json-value", Schema('{"type": "object"}', "JSON"))
    found = await by_schema(values, registered(json, b'{"n": 9007199254740993}'))
    assert found == {"schema": json, "format": "JSON", "text": '{"n": 9007199254740993}'}


async def test_why_it_cannot_be_read_is_said(registry: Registry, values: RegisteredValues) -> None:
    found = await by_schema(values, registered(999, b"x"))
    assert found is not None
    assert "not found" in str(found["error"])
    avro = registry.register("cut-value", Schema('"string"'))
    found = await by_schema(values, registered(avro, b"\x7f"))
    assert found is not None
    assert "not Avro" in str(found["error"])


async def test_a_value_that_is_nested_too_deep_is_refused(
    registry: Registry, values: RegisteredValues
) -> None:
    json = registry.register("deep-value", Schema('{"type": "array"}', "JSON"))
    found = await by_schema(values, registered(json, b"[" * 100_000))
    assert found is not None
    assert "recursion" in str(found["error"])


async def test_ten_bytes_keep_no_thread_busy(registry: Registry, values: RegisteredValues) -> None:
    nulls = registry.register("nulls-value", Schema('{"type": "array", "items": "null"}'))
    found = await by_schema(values, registered(nulls, b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f\x00"))
    assert found is not None
    assert "that is too many" in str(found["error"])
    found = await by_schema(values, registered(nulls, b"x" * (2 << 20)))
    assert found is not None
    assert "1 MiB" in str(found["error"])


async def test_other_values_name_no_schema(values: RegisteredValues) -> None:
    assert await by_schema(values, b"") is None
    assert await by_schema(values, b"\x00\x00") is None
    assert await by_schema(values, b'{"json": 1}') is None


def test_lists_are_read_and_a_registry_that_fails_is_left_alone(
    registry: Registry, values: RegisteredValues
) -> None:
    avro = registry.register("listed-value", Schema('"string"'))
    listed = ListedValues(values)
    assert listed.read(b"plain") is None
    for each in range(5):
        found = listed.read(registered(7000 + each, b"x"))
        assert (found is None) == (each >= 3), "three failures are enough"
    assert listed.read(registered(7000, b"x")) is not None, "known"
    assert listed.read(registered(avro, b"\x06abc")) is None
    found = ListedValues(values).read(registered(avro, b"\x06abc"))
    assert found == {"schema": avro, "format": "AVRO", "text": '"abc"'}


def test_a_value_that_cannot_be_read_does_not_hide_the_others(
    registry: Registry, values: RegisteredValues
) -> None:
    avro = registry.register("mixed-value", Schema('"string"'))
    listed = ListedValues(values)
    for _ in range(5):
        found = listed.read(registered(avro, b"\x7f"))
        assert found is not None
        assert "not Avro" in str(found["error"])
    found = listed.read(registered(avro, b"\x06abc"))
    assert found is not None
    assert found["text"] == '"abc"'


def test_a_schema_whose_values_take_long_is_given_up(
    registry: Registry, values: RegisteredValues, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registered_module, "_SLOW_S", 0.0)
    monkeypatch.setattr(registered_module, "_SLOW_ALL_S", 0.0)
    avro = registry.register("slow-value", Schema('"string"'))
    listed = ListedValues(values)
    found = [listed.read(registered(avro, b"\x06abc")) for _ in range(2)]
    assert [each is not None and "error" in each for each in found] == [False, True]
    assert "took too long" in str(found[1])


async def test_a_value_is_not_waited_for_without_end(
    registry: Registry, values: RegisteredValues, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registered_module, "_WAIT_S", 0.0)
    avro = registry.register("waited-value", Schema('"string"'))
    found = await by_schema(values, registered(avro, b"\x06abc"))
    assert found is not None
    assert "not decoded within" in str(found["error"])
