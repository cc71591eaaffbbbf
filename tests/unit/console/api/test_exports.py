"""A query is exported whole, in a form that others read."""

import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq

from moldau.client.arrow.tables import SCHEMA
from moldau.console.api.exports import CommaSeparated, JsonLines, Parquet, without_markers
from unit.console.asking import API, Asking


async def test_a_query_is_exported(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "exported", "partitions": 1})
    for value in ("=1+1", "plain"):
        await console.send("POST", "/topics/exported/messages", {"key": "k", "value": value})
    path = f"{API}/topics/exported/export?start=oldest"
    rows = (await console.ask("GET", path)).body
    assert [json.loads(line)["value"] for line in rows.splitlines()] == ["=1+1", "plain"]
    table = await console.ask("GET", f"{path}&format=csv")
    cells = list(csv.DictReader(io.StringIO(table.body.decode())))
    assert [row["value"] for row in cells] == ["'=1+1", "plain"], "no formula reaches a spreadsheet"
    file = await console.ask("GET", f"{path}&format=parquet&filter=plain")
    assert file.headers["content-disposition"] == 'attachment; filename="records.parquet"'
    assert pq.read_table(io.BytesIO(file.body))["value"].to_pylist() == [b"plain"]
    nothing = await console.ask("GET", f"{path}&format=parquet&filter=absent")
    assert pq.read_table(io.BytesIO(nothing.body)).num_rows == 0
    one = (await console.ask("GET", f"{path}&limit=1")).body
    assert len(one.splitlines()) == 1
    assert (await console.refused("GET", "/topics/exported/export?format=exe"))[0] == 400


def table_of(value: bytes, header: bytes | None) -> pa.Table:
    columns = {
        "key": pa.array([None], pa.binary()),
        "value": pa.array([value], pa.binary()),
        "partition": pa.array([0], pa.int32()),
        "offset": pa.array([2**60], pa.int64()),
        "timestamp": pa.array([7], SCHEMA.field("timestamp").type),
        "headers": pa.array([[{"key": "h", "value": header}]], SCHEMA.field("headers").type),
    }
    return pa.table(columns)


def test_bytes_that_are_no_text_stay_what_they_are() -> None:
    found = json.loads(JsonLines().piece(table_of(b"\xff\x00", None)))
    assert (found["key"], found["value_base64"]) == (None, "/wA=")
    assert found["headers"] == [{"name": "h", "value": None}]
    assert (found["offset"], found["timestamp"]) == (2**60, 7)
    lines = CommaSeparated().piece(table_of(b"\xff\x00", None)).decode().splitlines()
    assert lines[1].startswith(f"0,{2**60},7,,0xff00,")


def test_headers_run_no_formula_either() -> None:
    (row,) = csv.DictReader(io.StringIO(CommaSeparated().piece(table_of(b"@x", b"=1")).decode()))
    assert row["value"] == "'@x"
    assert row["headers"] == '[["h", "=1"]]', "begins with a bracket"


def test_columns_come_piece_by_piece() -> None:
    file = Parquet()
    data = file.piece(table_of(b"a", b"b")) + file.piece(table_of(b"c", None)) + file.end()
    found = pq.ParquetFile(io.BytesIO(data))
    assert found.num_row_groups == 2
    assert found.read()["value"].to_pylist() == [b"a", b"c"]


def test_markers_are_no_records_and_aborted_ones_are_marked() -> None:
    table = pa.concat_tables([table_of(b"a", None)] * 3)
    states = pa.array([None, "aborted", "abort marker"], pa.string())
    kept = without_markers(table.append_column("state", states))
    lines = [json.loads(line) for line in JsonLines().piece(kept).splitlines()]
    assert [each.get("state") for each in lines] == [None, "aborted"]
    assert without_markers(table) is table
    nothing = table.slice(0, 0).append_column("state", pa.array([], pa.string()))
    assert without_markers(nothing).num_rows == 0
