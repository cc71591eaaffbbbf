"""Records are looked through, shown whole, exported and produced."""

import csv
import io
import json
from urllib.parse import quote

import pyarrow as pa
import pytest

from moldau.client.arrow.tables import SCHEMA
from moldau.console.api.messages import comma_separated, json_lines
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
    found = await lines(console, f"/topics/found/messages?key=k&filter={wanted}")
    (row,) = (each["row"] for each in found if "row" in each)
    assert isinstance(row, dict)
    assert (row["partition"], row["offset"]) == (place["partition"], place["offset"])
    assert row["value"]["text"] == '{"big": 9007199254740993}'
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


@pytest.mark.parametrize("body", [{"value": 1}, {"partition": "0"}, {"headers": [1]}])
async def test_what_is_no_record_is_refused(console: Asking, body: dict[str, object]) -> None:
    assert (await console.refused("POST", "/topics/any/messages", body))[0] == 400


async def test_nothing_is_produced_to_a_topic_that_is_not_there(console: Asking) -> None:
    status, _ = await console.refused("POST", "/topics/absent/messages", {"value": "x"})
    assert status == 404


async def test_a_query_is_exported(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "exported", "partitions": 1})
    for value in ("=1+1", "plain"):
        await console.send("POST", "/topics/exported/messages", {"key": "k", "value": value})
    rows = (await console.ask("GET", f"{API}/topics/exported/export?start=oldest")).body
    assert [json.loads(line)["value"] for line in rows.splitlines()] == ["=1+1", "plain"]
    table = await console.ask("GET", f"{API}/topics/exported/export?start=oldest&format=csv")
    cells = list(csv.reader(io.StringIO(table.body.decode())))
    assert [row[-1] for row in cells] == ["'=1+1", "plain"], "no formula reaches a spreadsheet"
    assert (await console.refused("GET", "/topics/exported/export?format=exe"))[0] == 400


def test_bytes_that_are_no_text_are_exported_as_digits() -> None:
    columns = {
        "key": pa.array([None], pa.binary()),
        "value": pa.array([b"\xff\x00"], pa.binary()),
        "partition": pa.array([0], pa.int32()),
        "offset": pa.array([2**60], pa.int64()),
        "timestamp": pa.array([7], SCHEMA.field("timestamp").type),
        "headers": pa.array([[{"key": "h", "value": None}]], SCHEMA.field("headers").type),
    }
    table = pa.table(columns)
    found = json.loads(json_lines(table))
    assert (found["key"], found["value"], found["headers"]) == (None, "0xff00", [["h", None]])
    assert (found["offset"], found["timestamp"]) == (2**60, 7)
    assert comma_separated(table).startswith(f"0,{2**60},7,,0xff00")
