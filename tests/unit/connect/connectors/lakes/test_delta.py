"""Delta tables hold each record once, whoever writes and whatever is repeated."""

import datetime as dt
from pathlib import Path

import pytest
from deltalake import DeltaTable

from moldau.connect.connectors.holding import HeldPart
from moldau.connect.connectors.lakes.delta import DeltaTables
from moldau.connect.connectors.lakes.sink import DeltaSink
from moldau.connect.data.record import Datum
from moldau.connect.data.schema import (
    DATE_SCHEMA,
    INT64,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    decimal,
    struct,
)
from moldau.connect.errors import CommitLost, ConfigError, RetriableConnectError
from moldau.connect.testing import write
from unit.connect.connectors.records import records

WIDER = struct([("id", INT64), ("name", STRING), ("extra", INT64)])


def sink(path: Path, **settings: str) -> DeltaSink:
    named = {name.replace("_", "."): text for name, text in settings.items()}
    return DeltaSink({"name": "s", "directory": str(path), "rows.per.file": "4", **named})


def ids(path: Path) -> list[int]:
    found = DeltaTable(str(path / "t")).to_pyarrow_table()
    return sorted(found["id"].to_pylist())


def test_what_comes_again_after_a_failure_is_left_out(tmp_path: Path) -> None:
    sink(tmp_path).write(records(0, 4), 0)
    again = sink(tmp_path)
    again.write(records(0, 6), 0)
    again.write(records(6, 1, partition=1), 1)
    assert again.settle(ends=True)
    assert ids(tmp_path) == [0, 1, 2, 3, 4, 5, 6]
    assert DeltaTable(str(tmp_path / "t")).transaction_version("moldau/s/0") == 6


def test_a_task_that_was_overtaken_stores_nothing(tmp_path: Path) -> None:
    sink(tmp_path).write(records(0, 4), 0)
    deposed = DeltaTables({"name": "s", "directory": str(tmp_path)})
    assert deposed.reached("t", [0]) == {0: 4}
    sink(tmp_path).write(records(4, 4), 0)
    rows = sink(tmp_path).rows_of(HeldPart("t", 0, records(4, 2)))
    with pytest.raises(CommitLost):
        deposed.append("t", rows, {0: 6})
    assert deposed.reached("t", [1]) == {}
    sink(tmp_path).write(records(8, 4), 0)
    deposed.append("t", sink(tmp_path).rows_of(HeldPart("t", 1, records(12, 1))), {1: 13})
    assert ids(tmp_path) == list(range(13)), "of another partition nobody has changed anything"


def test_of_two_that_make_a_table_the_second_has_lost(tmp_path: Path) -> None:
    deposed = DeltaTables({"name": "s", "directory": str(tmp_path)})
    assert deposed.reached("t", [0]) == {}
    sink(tmp_path).write(records(0, 4), 0)
    with pytest.raises(CommitLost):
        deposed.append("t", sink(tmp_path).rows_of(HeldPart("t", 0, records(0, 4))), {0: 4})
    assert ids(tmp_path) == list(range(4))


def test_columns_are_added_if_that_is_wanted(tmp_path: Path) -> None:
    sink(tmp_path).write(records(0, 4), 0)
    with pytest.raises(ConfigError, match=r"auto\.evolve"):
        sink(tmp_path).write(records(4, 4, schema=WIDER), 0)
    sink(tmp_path, auto_evolve="true").write(records(4, 4, schema=WIDER), 0)
    assert ids(tmp_path) == list(range(8))
    assert "extra" in DeltaTable(str(tmp_path / "t")).to_pyarrow_table().column_names


def test_every_type_is_stored(tmp_path: Path) -> None:
    moment = dt.datetime(2024, 2, 29, 1, 2, 3, 4000, tzinfo=dt.UTC)
    row = struct(
        [
            ("at", TIMESTAMP_SCHEMA),
            ("day", DATE_SCHEMA),
            ("hour", TIME_SCHEMA),
            ("price", decimal(2)),
            ("within", struct([("a", STRING)])),
        ]
    )
    value = {
        "at": moment,
        "day": moment.date(),
        "hour": moment.time(),
        "price": None,
        "within": {"a": "x"},
    }
    write(DeltaSink, {"directory": str(tmp_path)}, [Datum(value, row)])
    (found,) = DeltaTable(str(tmp_path / "topic")).to_pyarrow_table().to_pylist()
    assert found == {**value, "hour": "01:02:03.004"}


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("")
    with pytest.raises(RetriableConnectError, match=str(tmp_path)):
        sink(tmp_path).write(records(0, 4), 0)


def test_small_files_are_put_together_and_nothing_else_changes(tmp_path: Path) -> None:
    one = sink(tmp_path, compact_every_commits="3")
    for first in range(0, 20, 4):
        one.write(records(first, 4), 0)
    one.close()
    found = DeltaTable(str(tmp_path / "t"))
    assert len(found.file_uris()) == 3  # one of three, and two that came later
    assert ids(tmp_path) == list(range(20))
    assert found.transaction_version("moldau/s/0") == 20
    again = sink(tmp_path)
    again.write(records(0, 22), 0)  # what comes again is left out afterwards as before
    again.close()
    assert ids(tmp_path) == list(range(22))
