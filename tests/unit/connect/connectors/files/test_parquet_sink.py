"""Each record is in one file, whoever writes and whatever is repeated."""

from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from moldau.connect.connectors.files.parquet_sink import ParquetSink
from moldau.connect.data.record import Datum
from moldau.connect.data.schema import STRING
from moldau.connect.errors import ConnectError, RetriableConnectError
from moldau.connect.testing import write
from unit.connect.connectors.records import ROW, records


def sink(path: Path, **settings: str) -> ParquetSink:
    named = {name.replace("_", "."): text for name, text in settings.items()}
    return ParquetSink({"directory": str(path), "rows.per.file": "4", **named})


def ids(path: Path) -> list[int]:
    found: list[int] = ds.dataset(path / "t", partitioning="hive").to_table()["id"].to_pylist()
    return sorted(found)


def test_files_hold_rows_by_partition_and_say_where_they_begin(tmp_path: Path) -> None:
    one = sink(tmp_path)
    one.write(records(0, 3), 0)
    assert not list(tmp_path.glob("**/*.parquet"))
    one.write(records(9, 1, partition=1), 1)
    files = sorted(str(each.relative_to(tmp_path)) for each in tmp_path.glob("t/*/*"))
    assert files == [f"t/partition=0/{0:020}.parquet", f"t/partition=1/{9:020}.parquet"]
    assert pq.read_table(tmp_path / files[1]).to_pylist() == [{"id": 9, "name": "n9"}]
    assert ids(tmp_path) == [0, 1, 2, 9]


def test_what_was_stored_before_a_failure_is_left_out(tmp_path: Path) -> None:
    sink(tmp_path).write(records(0, 4), 0)
    again = sink(tmp_path)
    again.write(records(0, 6), 0)
    again.write(records(6, 2), 1)
    assert again.settle(ends=True)
    assert ids(tmp_path) == list(range(8))


def test_of_two_tasks_with_the_same_records_each_record_is_stored_once(tmp_path: Path) -> None:
    deposed, new = sink(tmp_path), sink(tmp_path)
    sink(tmp_path).write(records(0, 4), 0)
    deposed.write(records(4, 2), 0)
    new.write(records(4, 3), 0)
    assert deposed.settle(ends=True)
    assert new.settle(ends=True)
    deposed.write(records(6, 3), 1)
    new.write(records(7, 1), 1)
    assert new.settle(ends=True)
    assert deposed.settle(ends=True)
    assert ids(tmp_path) == list(range(9))
    assert len(list(tmp_path.glob("t/*/*"))) == 5, "nothing unfinished is left"


def test_places_are_columns_if_wanted_and_tombstones_are_none(tmp_path: Path) -> None:
    one = sink(tmp_path, place_columns="true", compression="none")
    one.write(records(5, 1), 0)
    one.settle(ends=True)
    (row,) = ds.dataset(tmp_path).to_table().to_pylist()
    assert row == {"id": 5, "name": "n5", "__offset": 5, "__timestamp": 5000}
    values = [Datum("x", STRING), Datum(None, STRING)]
    write(ParquetSink, {"directory": str(tmp_path)}, values, "texts")
    assert ds.dataset(tmp_path / "texts").to_table().to_pylist() == [{"value": "x"}]
    assert ROW.fields[0].name == "id"


def test_a_file_of_others_and_a_directory_that_is_none_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "t" / "partition=0"
    folder.mkdir(parents=True)
    (folder / "a.parquet").write_bytes(b"mine")
    with pytest.raises(ConnectError, match="not written by this sink"):
        sink(tmp_path).write(records(0, 4), 0)
    (tmp_path / "file").write_text("")
    with pytest.raises(RetriableConnectError, match="Not a directory"):
        sink(tmp_path / "file").write(records(0, 4), 0)
