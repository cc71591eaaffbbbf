"""Files of records are read piece by piece, or refused with the line."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from moldau.console.messages import uploads
from moldau.console.messages.uploads import UploadError, tables_of


def rows(data: bytes, kind: str) -> list[dict[str, object]]:
    return [row for table in tables_of(io.BytesIO(data), kind, 7) for row in table.to_pylist()]


def test_lines_of_json() -> None:
    found = rows(
        b'{"key": "k", "value": {"big": 9007199254740993}, "partition": 2, "timestamp": 5}\n'
        b"\n"
        b'{"value_base64": "/wA=", "headers": [{"name": "h", "value": "v"}, {"name": "n"}]}\n'
        b'{"key": "", "value": null}',
        "jsonl",
    )
    assert found[0] == {
        "key": b"k",
        "value": b'{"big": 9007199254740993}',
        "partition": 2,
        "timestamp": 5,
        "headers": [],
    }
    assert (found[1]["key"], found[1]["value"], found[1]["timestamp"]) == (None, b"\xff\x00", 7)
    assert found[1]["headers"] == [{"key": "h", "value": b"v"}, {"key": "n", "value": None}]
    assert (found[2]["key"], found[2]["value"]) == (b"", None)


def test_csv() -> None:
    data = 'key,value,more,headers\r\na,"x\ny",1,\r\n,é,2,"[[""h"", ""v""]]"\r\nb,,3,\r\n'
    found = rows(data.encode(), "csv")
    assert [(row["key"], row["value"]) for row in found] == [
        (b"a", b"x\ny"),
        (None, "é".encode()),
        (b"b", None),
    ]
    assert found[1]["headers"] == [{"key": "h", "value": b"v"}]


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def test_parquet() -> None:
    stamps = pa.array([9000], pa.timestamp("us", tz="UTC"))
    (found,) = rows(parquet(pa.table({"value": ["a"], "timestamp": stamps, "x": [1]})), "parquet")
    assert found == {"key": None, "value": b"a", "partition": 0, "timestamp": 9, "headers": []}


def test_tables_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "BYTES_AT_ONCE", 10)
    data = b'{"value": "12345678"}\n' * 5
    assert [each.num_rows for each in tables_of(io.BytesIO(data), "jsonl", 0)] == [2, 2, 1]
    monkeypatch.setattr(uploads, "LINE_BYTES_MAX", 10)
    with pytest.raises(UploadError, match="line 1 is longer"):
        rows(data, "jsonl")


@pytest.mark.parametrize(
    ("data", "kind", "why"),
    [
        (b'{"value": "a"}\n[1]', "jsonl", "line 2: a line is an object"),
        (b"{", "jsonl", "line 1"),
        (b'{"value": "\xff"}', "jsonl", "line 1"),
        (b'{"value": ' + b"[" * 999 + b"]" * 999 + b"}", "jsonl", "nested deeper"),
        (b'{"value_base64": "!"}', "jsonl", "base64"),
        (b'{"partition": -1}', "jsonl", "partition: -1"),
        (b'{"timestamp": "soon"}', "jsonl", "timestamp: soon"),
        (b'{"headers": [1]}', "jsonl", "headers"),
        (b"a,b\n1,2\n", "csv", "names the columns"),
        (b"", "csv", "names the columns"),
        (b'value,headers\nx,"[1]"\n', "csv", "headers"),
        (b"\xff\n", "csv", "line"),
        (b"no parquet", "parquet", "no Parquet"),
        (parquet(pa.table({"value": [1.5]})), "parquet", "no Parquet"),
        (parquet(pa.table({"x": [1]})), "parquet", "neither key nor value"),
    ],
)
def test_what_cannot_be_read_is_said(data: bytes, kind: str, why: str) -> None:
    with pytest.raises(UploadError, match=why):
        rows(data, kind)
