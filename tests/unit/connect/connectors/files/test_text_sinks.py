"""Each record is in one file of text, whoever writes and wherever a task dies."""

import datetime as dt
import gzip
import json
import os
from decimal import Decimal
from pathlib import Path

import pyarrow.csv
import pytest

from moldau.connect.connectors.files.text_sinks import CsvSink, JsonLinesSink, TextSink
from moldau.connect.data.record import Datum
from moldau.connect.data.schema import (
    BYTES,
    FLOAT64,
    STRING,
    TIMESTAMP_SCHEMA,
    array,
    decimal,
    optional,
    struct,
)
from moldau.connect.errors import ConnectError, RetriableConnectError
from moldau.connect.testing import write
from unit.connect.connectors.records import records

KINDS: tuple[type[TextSink], ...] = (JsonLinesSink, CsvSink)
ODD = struct(
    [
        ("at", TIMESTAMP_SCHEMA),
        ("price", decimal(2)),
        ("raw", BYTES),
        ("ratio", FLOAT64),
        ("tags", array(FLOAT64)),
        ("note", optional(STRING)),
    ]
)
ROW = {
    "at": dt.datetime(2026, 1, 2, 3, 4, 5, 6000, tzinfo=dt.UTC),
    "price": Decimal("1.50"),
    "raw": b"\0\xff",
    "ratio": float("nan"),
    "tags": [1.0, float("inf"), float("-inf")],
    "note": "",
}


def sink(path: Path, kind: type[TextSink] = JsonLinesSink, **settings: str) -> TextSink:
    named = {name.replace("_", "."): text for name, text in settings.items()}
    return kind({"directory": str(path), "rows.per.file": "4", **named})


def ids(path: Path) -> list[int]:
    lines = [line for each in path.glob("t/*/*.jsonl") for line in each.read_text().splitlines()]
    return sorted(json.loads(line)["id"] for line in lines)


def names(path: Path) -> list[str]:
    """Without claims."""
    return sorted(each.name for each in path.glob("t/*/*") if each.suffix != ".claim")


@pytest.mark.parametrize("kind", KINDS)
def test_files_hold_rows_by_partition_and_say_where_they_begin(
    tmp_path: Path, kind: type[TextSink]
) -> None:
    one = sink(tmp_path, kind)
    one.write(records(0, 3), 0)
    assert not list(tmp_path.glob("t/*/*"))
    one.write(records(9, 1, partition=1), 1)
    end = "jsonl" if kind is JsonLinesSink else "csv"
    assert names(tmp_path) == [f"{0:020}.{end}", f"{9:020}.{end}"]
    text = (tmp_path / "t" / "partition=1" / f"{9:020}.{end}").read_text()
    assert text == ('{"id": 9, "name": "n9"}\n' if end == "jsonl" else '"id","name"\n9,"n9"\n')


def test_values_that_a_format_does_not_have_are_texts(tmp_path: Path) -> None:
    for kind in KINDS:
        write(kind, {"directory": str(tmp_path)}, [Datum(ROW, ODD)], "odd")
    (lines,) = tmp_path.glob("odd/*/*.jsonl")
    assert json.loads(lines.read_text()) == {
        "at": "2026-01-02T03:04:05.006000+00:00",
        "price": "1.50",
        "raw": "AP8=",
        "ratio": "NaN",
        "tags": [1.0, "Infinity", "-Infinity"],
        "note": "",
    }
    (table,) = tmp_path.glob("odd/*/*.csv")
    nulls = pyarrow.csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    (row,) = pyarrow.csv.read_csv(table, convert_options=nulls).to_pylist()
    assert (row["price"], row["raw"], row["note"]) == (1.5, "AP8=", "")
    assert row["tags"] == '[1.0, "Infinity", "-Infinity"]'


def test_files_may_be_zipped(tmp_path: Path) -> None:
    sink(tmp_path, compression="gzip").write(records(0, 4), 0)
    (name,) = names(tmp_path)
    assert name == f"{0:020}.jsonl.gz"
    data = (tmp_path / "t" / "partition=0" / name).read_bytes()
    assert len(gzip.decompress(data).splitlines()) == 4


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
    assert len(names(tmp_path)) == 5, "nothing unfinished is left"


class Died(BaseException):
    """As a process does: nothing is tidied up."""


def test_a_task_that_dies_at_any_call_of_the_disk_leaves_what_the_next_goes_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, dies_at = 0, -1

    def dying(real: object) -> object:
        def call(*given: object) -> object:
            nonlocal calls
            calls += 1
            if calls == dies_at:
                raise Died
            return real(*given)  # type: ignore[operator]

        return call

    for name in ("link", "unlink", "fsync"):
        monkeypatch.setattr(os, name, dying(getattr(os, name)))
    sink(tmp_path / "whole").write(records(0, 4), 0)
    for number in range(1, calls + 1):
        path = tmp_path / str(number)
        calls, dies_at = 0, number
        with pytest.raises(Died):
            sink(path).write(records(0, 4), 0)
        dies_at = -1
        after = sink(path)
        after.write(records(0, 2), 0)  # fewer than before
        assert after.settle(ends=True)
        after.write(records(2, 4), 1)
        assert after.settle(ends=True)
        assert ids(path) == list(range(6)), number


def test_what_is_in_the_way_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "t" / "partition=0"
    folder.mkdir(parents=True)
    (folder / ".a.jsonl.claim").write_text("mine")
    with pytest.raises(ConnectError, match="not written by this sink"):
        sink(tmp_path).write(records(0, 4), 0)
    (folder / ".a.jsonl.claim").write_text('{"next": 4, "written": "x", "name": "y"}')
    with pytest.raises(ConnectError, match="y is missing"):
        sink(tmp_path).write(records(0, 4), 0)
    (tmp_path / "file").write_text("")
    with pytest.raises(RetriableConnectError, match="Not a directory"):
        sink(tmp_path / "file").write(records(0, 4), 0)
