"""Files of a directory are read in the order of their names, each row once."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from moldau.connect.connectors.files.directory import DirectorySource
from moldau.connect.errors import ConnectError, RetriableConnectError
from moldau.connect.testing import Read, read


def read_all(path: Path, kind: str = "jsonl", found: Read | None = None, **settings: str) -> Read:
    named = {name.replace("_", "."): text for name, text in settings.items()}
    config = {"directory": str(path), "format": kind, "topic": "t", **named}
    return read(DirectorySource, config, found.offsets if found else (), 2)


def put(path: Path, name: str, *ids: int) -> None:
    path.joinpath(name).write_text("".join(f"{json.dumps({'id': each})}\n" for each in ids))


def ids(found: Read) -> list[object]:
    return [each["id"] for each in found.values() if isinstance(each, dict)]


def test_files_are_read_in_order_and_those_that_come_later_from_there_on(tmp_path: Path) -> None:
    put(tmp_path, "b.jsonl", 4, 5, 6)
    put(tmp_path, "a.jsonl", 1, 2, 3)
    put(tmp_path, "c.jsonl")
    put(tmp_path, ".hidden.jsonl", 7)
    put(tmp_path, "b.txt", 8)
    (tmp_path / "folder.jsonl").mkdir()
    found = read_all(tmp_path, file_pattern="*.jsonl")
    assert ids(found) == [1, 2, 3, 4, 5, 6]
    assert found.records[0].topic == "t"
    assert found.offsets == [({"directory": str(tmp_path)}, {"file": "b.jsonl", "row": 3})]
    put(tmp_path, "d.jsonl", 9)
    assert ids(read_all(tmp_path, found=found, file_pattern="*.jsonl")) == [9]
    found.offsets[0] = found.offsets[0][0], {"file": "a.jsonl", "row": 1}
    assert ids(read_all(tmp_path, found=found, file_pattern="*.jsonl")) == [2, 3, 4, 5, 6, 9]


def test_what_a_sink_has_written_can_be_read_back(tmp_path: Path) -> None:
    for number in (1, 2):
        pq.write_table(pa.table({"id": [number, number + 10]}), tmp_path / f"{number:020}.parquet")
    assert ids(read_all(tmp_path, "parquet")) == [1, 11, 2, 12]


def test_a_directory_that_is_missing_and_offsets_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(RetriableConnectError, match="No such file"):
        read_all(tmp_path / "none")
    source = DirectorySource({"directory": str(tmp_path), "format": "csv", "topic": "t"})
    (partition,) = source.partitions()
    source.check_offset(partition, {"file": "a", "row": 1})
    source.check_offset(partition, None)
    for offset in ({"row": 1}, {"file": "a", "row": -1}):
        with pytest.raises(ConnectError, match="it has a `file`"):
            source.check_offset(partition, offset)
    with pytest.raises(ConnectError, match="the only partition"):
        source.check_offset({"directory": "/x"}, None)
