"""Iceberg tables hold each record once, whoever writes and whatever is repeated."""

import datetime as dt
from pathlib import Path

import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.table import Table

from moldau.connect.connectors.holding import HeldPart
from moldau.connect.connectors.lakes.iceberg import IcebergTables
from moldau.connect.connectors.lakes.sink import IcebergSink
from moldau.connect.data.record import Datum
from moldau.connect.data.schema import (
    DATE_SCHEMA,
    INT8,
    INT64,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    decimal,
    struct,
)
from moldau.connect.errors import CommitLost, ConfigError
from moldau.connect.testing import write
from unit.connect.connectors.records import ROW, records

WIDER = struct([("id", INT64), ("name", STRING), ("extra", INT64)])


def catalog(path: Path) -> dict[str, str]:
    return {"type": "sql", "uri": f"sqlite:///{path}/catalog", "warehouse": f"file://{path}"}


def config(path: Path, **settings: str) -> dict[str, str]:
    named = {name.replace("_", "."): text for name, text in settings.items()}
    own = {f"iceberg.catalog.{name}": text for name, text in catalog(path).items()}
    return {"name": "s", "rows.per.file": "4", **own, **named}


def store(path: Path, first: int, count: int, **settings: str) -> None:
    sink = IcebergSink(config(path, **settings))
    try:
        sink.write(records(first, count, schema=WIDER if "wider" in settings else ROW), 0)
        sink.settle(ends=True)
    finally:
        sink.close()


def table(path: Path, name: str = "t") -> Table:
    return load_catalog("default", **catalog(path)).load_table(("default", name))


def ids(path: Path) -> list[int]:
    return sorted(table(path).scan().to_arrow()["id"].to_pylist())


def test_what_comes_again_after_a_failure_is_left_out(tmp_path: Path) -> None:
    store(tmp_path, 0, 4)
    store(tmp_path, 0, 6)
    store(tmp_path, 6, 1)
    assert ids(tmp_path) == [0, 1, 2, 3, 4, 5, 6]
    snapshot = table(tmp_path).current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    assert snapshot.summary["moldau.batch-id"] == 's {"0": 7}'


def test_a_task_that_was_overtaken_stores_nothing(tmp_path: Path) -> None:
    store(tmp_path, 0, 4)
    deposed = IcebergTables(config(tmp_path))
    assert deposed.reached("t", [0]) == {0: 4}
    store(tmp_path, 4, 4)
    rows = IcebergSink(config(tmp_path)).rows_of(HeldPart("t", 0, records(4, 2)))
    with pytest.raises(CommitLost):
        deposed.append("t", rows, {0: 6})
    deposed.close()
    assert ids(tmp_path) == list(range(8))


def test_columns_are_added_if_that_is_wanted(tmp_path: Path) -> None:
    store(tmp_path, 0, 4)
    with pytest.raises(ConfigError, match=r"auto\.evolve"):
        store(tmp_path, 4, 4, wider="true")
    store(tmp_path, 4, 4, wider="true", auto_evolve="true")
    assert ids(tmp_path) == list(range(8))


def test_every_type_is_stored(tmp_path: Path) -> None:
    moment = dt.datetime(2024, 2, 29, 1, 2, 3, 4000, tzinfo=dt.UTC)
    row = struct(
        [
            ("at", TIMESTAMP_SCHEMA),
            ("day", DATE_SCHEMA),
            ("hour", TIME_SCHEMA),
            ("price", decimal(2)),
            ("small", INT8),
            ("within", struct([("a", STRING)])),
        ]
    )
    value = {
        "at": moment,
        "day": moment.date(),
        "hour": moment.time(),
        "price": None,
        "small": 1,
        "within": {"a": "x"},
    }
    write(IcebergSink, config(tmp_path), [Datum(value, row)], "a.b")
    assert table(tmp_path, "a_b").scan().to_arrow().to_pylist() == [value]


def test_a_catalog_is_needed() -> None:
    with pytest.raises(ConfigError, match="a catalog is needed"):
        IcebergTables({})


def files(path: Path) -> int:
    return len(list(table(path).scan().plan_files()))


def test_small_files_are_put_together_and_nothing_else_changes(tmp_path: Path) -> None:
    sink = IcebergSink(config(tmp_path, compact_every_commits="3"))
    for first in range(0, 20, 4):
        sink.write(records(first, 4), 0)
    sink.close()
    assert files(tmp_path) == 3  # one of three, and two that came later
    assert ids(tmp_path) == list(range(20))
    (application,) = (each for each in table(tmp_path).properties if each.startswith("moldau."))
    assert table(tmp_path).properties[application] == '{"0": 20}'
    store(tmp_path, 0, 22)  # what comes again is left out afterwards as before
    assert ids(tmp_path) == list(range(22))
    tables = IcebergTables(config(tmp_path))
    assert tables.compact("t", 1) == 0
    assert tables.compact("t", 2**20) == files(tmp_path) + 3
    assert (files(tmp_path), tables.compact("t", 2**20)) == (1, 0)
    tables.close()
