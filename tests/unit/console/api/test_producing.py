"""Records are written as they are sent, or not at all."""

import pytest

from moldau.client.registry import Registry, Schema
from moldau.client.serdes.registered import RegisteredValues
from moldau.testing.broker import EmbeddedBroker
from unit.console.asking import API, Asking, asking
from unit.registry.started import started_registry


async def test_bytes_and_repeated_headers_are_written(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "bytes", "partitions": 2})
    headers = [{"name": "h", "value": "1"}, {"name": "h", "value_base64": "/wA="}, {"name": "n"}]
    body = {"key_base64": "/w==", "value_base64": "AAE=", "headers": headers, "partition": 1}
    place = await console.send("POST", "/topics/bytes/messages", body)
    assert place == {"partition": 1, "offset": "0"}
    found = await console.get("/topics/bytes/messages/1/0")
    assert (found["key"]["kind"], found["value"]["hex"][10:15]) == ("hex", "00 01")
    assert [(name, each["kind"]) for name, each in found["headers"]] == [
        ("h", "text"),
        ("h", "hex"),
        ("n", "null"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"value": 1},
        {"partition": "0"},
        {"headers": [1]},
        {"value_base64": "!"},
        {"value": "\ud800"},
    ],
)
async def test_what_is_no_record_is_refused(console: Asking, body: dict[str, object]) -> None:
    assert (await console.refused("POST", "/topics/any/messages", body))[0] == 400


async def test_nothing_is_produced_to_a_topic_that_is_not_there(console: Asking) -> None:
    status, _ = await console.refused("POST", "/topics/absent/messages", {"value": "x"})
    assert status == 404


async def test_json_becomes_a_value_of_a_registered_schema(broker: EmbeddedBroker) -> None:
    servers = {"local": {"bootstrap.servers": broker.bootstrap_servers}}
    with started_registry(broker.bootstrap_servers) as running:
        registry = Registry(running.url)
        number = registry.register("avro-value", Schema('{"type": "array", "items": "long"}'))
        async with asking(
            servers, beside={"registered": RegisteredValues(Registry(running.url))}
        ) as console:
            await console.send("POST", "/topics", {"name": "avro", "partitions": 1})
            for schema in ("avro-value", number):
                body = {"key": "k", "value": "[1, 9007199254740993]", "value_schema": schema}
                await console.send("POST", "/topics/avro/messages", body)
            found = await console.get("/topics/avro/messages/0/1")
            assert found["value"]["registered"]["text"] == "[1, 9007199254740993]"
            found = await console.ask("GET", f"{API}/topics/avro/messages?filter=value.0%20%3D%201")
            assert found.body.count(b'"text":"[1, 9007199254740993]"') == 2, "by what it says"
            sql = "SELECT%20json-%3E1%20FROM%20records"
            result = await console.ask("GET", f"{API}/topics/avro/sql?sql={sql}")
            assert result.body.count(b'["9007199254740993"]') == 2
            for given in (
                {"value": "no", "value_schema": number},
                {"value": "[1]", "value_schema": "absent"},
                {"value": "[1]", "value_schema": []},
            ):
                assert (await console.refused("POST", "/topics/avro/messages", given))[0] == 400


async def test_without_a_registry_there_are_no_schemas(console: Asking) -> None:
    body = {"value": "x", "value_schema": 1}
    status, message = await console.refused("POST", "/topics/any/messages", body)
    assert (status, "--registry" in message) == (400, True)
