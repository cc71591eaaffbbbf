"""Records are looked through, shown whole."""

import json
from urllib.parse import quote

from moldau.client.producer.producer import Producer
from moldau.testing.broker import EmbeddedBroker
from unit.console.asking import API, Asking


async def lines(console: Asking, path: str) -> list[dict[str, object]]:
    answer = await console.ask("GET", API + path)
    assert answer.status == 200, answer.body
    return [json.loads(line) for line in answer.body.splitlines()]


async def test_what_is_produced_is_found(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "found", "partitions": 3})
    body = {"key": "k", "value": '{"big": 9007199254740993}', "headers": {"trace": "t"}}
    place = await console.send("POST", "/topics/found/messages", body)
    await console.send("POST", "/topics/found/messages", {"key": "k", "value": None})
    wanted = quote("value.big = 9007199254740993 and headers.trace = t")
    columns = "columns=value.big,headers.trace"
    found = await lines(console, f"/topics/found/messages?key=k&filter={wanted}&{columns}")
    (row,) = (each["row"] for each in found if "row" in each)
    assert isinstance(row, dict)
    assert (row["partition"], row["offset"]) == (place["partition"], place["offset"])
    assert row["value"]["text"] == '{"big": 9007199254740993}'
    assert row["columns"] == ["9007199254740993", "t"]
    end = found[-1]["end"]
    assert isinstance(end, dict)
    assert (end["stopped"], end["scanned"], end["hits"]) == ("end", 2, 1)
    every = await lines(console, "/topics/found/messages")
    kinds = [each["row"]["value"]["kind"] for each in every if "row" in each]  # type: ignore[index]
    assert kinds == ["tombstone", "json"]


async def test_a_record_is_shown_whole_and_downloaded(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "whole", "partitions": 1})
    await console.send("POST", "/topics/whole/messages", {"value": "<b>" + "x" * 5000})
    found = await console.get("/topics/whole/messages/0/0")
    assert len(found["value"]["text"]) == 5003
    assert found["value"]["hex"].startswith("00000000  3c 62 3e")
    file = await console.ask("GET", f"{API}/topics/whole/messages/0/0?download=value")
    assert file.body == b"<b>" + b"x" * 5000
    assert file.headers["content-type"] == "application/octet-stream"
    assert file.headers["content-disposition"].startswith("attachment")
    for path in ("0/1", "7/0", "0/-1"):
        assert (await console.refused("GET", f"/topics/whole/messages/{path}"))[0] == 404
    assert (await console.refused("GET", "/topics/whole/messages/0/x"))[0] == 400
    assert (await console.refused("GET", "/topics/whole/messages/0/0?download=key"))[0] == 404


async def test_what_cannot_be_looked_through_is_said(console: Asking) -> None:
    (line,) = await lines(console, "/topics/nowhere/messages")
    assert "UNKNOWN_TOPIC_OR_PARTITION" in str(line["error"])
    status, message = await console.refused("GET", "/topics/nowhere/messages?filter=(")
    assert status == 400
    assert message.startswith("filter: ")
    listed = (await console.get("/topics"))["topics"]
    assert "nowhere" not in [each["name"] for each in listed], "to look creates nothing"


async def test_of_a_large_record_the_beginning_is_sent_until_more_is_asked_for(
    broker: EmbeddedBroker, console: Asking
) -> None:
    configs = {"max.message.bytes": str(20 << 20)}
    await console.send("POST", "/topics", {"name": "large", "partitions": 1, "configs": configs})
    large = b'{"big": 9007199254740993, "x": "' + b"x" * (6 << 20) + b'"}'
    settings = {"bootstrap.servers": broker.bootstrap_servers, "max.request.size": 20 << 20}
    async with Producer[bytes, bytes](settings) as producer:
        await producer.send_and_wait("large", large)
    answer = await console.ask("GET", f"{API}/topics/large/messages")
    assert len(answer.body) < 4096
    (row,) = [json.loads(line)["row"] for line in answer.body.splitlines() if b'"row"' in line]
    value = row["value"]
    assert (value["size"], len(value["text"]), value["is_cut"]) == (len(large), 2048, True)
    whole = (await console.get("/topics/large/messages/0/0"))["value"]
    assert (len(whole["text"]), whole["is_cut"]) == (1 << 20, True)
    file = await console.ask("GET", f"{API}/topics/large/messages/0/0?download=value")
    assert file.body == large
