"""Files of tables are read to their ends, and on from where they were left."""

import datetime as dt
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from moldau.connect.connectors.files.source import FileSource
from moldau.connect.errors import ConnectError, DataError, RetriableConnectError
from moldau.connect.testing import Read, read

ROWS = [{"id": at, "name": f"n{at}"} for at in range(7)]


def read_file(path: Path, kind: str, found: Read | None = None, limit: int = 3) -> Read:
    config = {"file": str(path), "format": kind, "topic": "t"}
    return read(FileSource, config, found.offsets if found else (), limit)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    found = {kind: tmp_path / f"f.{kind}" for kind in ("parquet", "csv", "jsonl")}
    pq.write_table(pa.Table.from_pylist(ROWS), found["parquet"], row_group_size=2)
    lines = [f"{each['id']},{each['name']}\n" for each in ROWS]
    found["csv"].write_text("".join(["id,name\n", *lines]))
    found["jsonl"].write_text("".join(f"{json.dumps(each)}\n" for each in ROWS))
    return found


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_rows_are_read_once_and_on_from_an_offset(files: dict[str, Path], kind: str) -> None:
    found = read_file(files[kind], kind)
    assert found.values() == ROWS
    assert found.records[0].topic == "t"
    assert found.offsets == [({"filename": str(files[kind])}, {"row": 7})]
    assert read_file(files[kind], kind, found).values() == []
    found.offsets[0] = found.offsets[0][0], {"row": 5}
    assert read_file(files[kind], kind, found).values() == ROWS[5:]


def test_types_that_connect_does_not_have_become_the_nearest(tmp_path: Path) -> None:
    moment = dt.datetime(2024, 2, 29, 1, 2, 3, 456789, tzinfo=dt.UTC)
    table = pa.table(
        {
            "at": pa.array([moment], pa.timestamp("us", tz="UTC")),
            "n": pa.array([2**31], pa.uint32()),
            "word": pa.array(["x"]).dictionary_encode(),
            "list": pa.array([[1, None]], pa.large_list(pa.int16())),
        }
    )
    pq.write_table(table, tmp_path / "f")
    assert read_file(tmp_path / "f", "parquet").values() == [
        {"at": moment.replace(microsecond=456000), "n": 2**31, "word": "x", "list": [1, None]}
    ]


def test_lines_with_other_fields_are_read_and_what_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text('{"a": 1}\n\n{"a": 2.5, "b": {"c": true}}\n')
    assert read_file(path, "jsonl").values() == [
        {"a": 1.0, "b": None},
        {"a": 2.5, "b": {"c": True}},
    ]
    for text, kind in (("[1]\n", "jsonl"), ("{", "jsonl"), ("x", "parquet"), ("a,b\n1\n", "csv")):
        path.write_text(text)
        with pytest.raises(DataError):
            read_file(path, kind)
    with pytest.raises(RetriableConnectError, match="No such file"):
        read_file(tmp_path / "none", "parquet")
    with pytest.raises(ConnectError, match="no offset of this connector"):
        FileSource({"file": "f", "format": "csv", "topic": "t"}).read({}, {"row": "x"}, 1)
