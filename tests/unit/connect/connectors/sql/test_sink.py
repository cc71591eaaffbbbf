"""Topics become tables: once, in order, with keys, deletes and new columns."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from moldau.connect.connectors.sql.sink import JdbcSink
from moldau.connect.data.arrow import table_of_records
from moldau.connect.data.record import NULL, ConnectRecord, Datum
from moldau.connect.data.schema import INT64, STRING, Schema, optional, struct
from moldau.connect.errors import ConfigError, DataError

KEY = struct([("id", INT64)])
ROW = struct([("id", INT64), ("name", optional(STRING))])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "d"


def record(offset: int, value: object, schema: Schema = ROW, key: int = 1) -> ConnectRecord:
    datum = NULL if value is None else Datum(value, schema)
    return ConnectRecord("t", Datum({"id": key}, KEY), datum, (), 0, 0, offset)


def write(
    path: Path, records: Sequence[ConnectRecord], **settings: str
) -> list[tuple[object, ...]]:
    named = {name.replace("_", "."): text for name, text in settings.items()}
    sink = JdbcSink(
        {"name": "s", "connection.url": f"jdbc:sqlite:{path}", "auto.create": "true", **named}
    )
    sink.write(table_of_records(records), 0)
    sink.close()
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT * FROM t ORDER BY 1").fetchall()
    connection.close()
    return found


def test_records_that_come_again_are_inserted_once(path: Path) -> None:
    first = [record(0, {"id": 1, "name": "a"}), record(1, {"id": 2, "name": None})]
    assert write(path, first) == [(1, "a"), (2, None)]
    assert write(path, [*first, record(2, {"id": 3, "name": "c"})]) == [
        (1, "a"),
        (2, None),
        (3, "c"),
    ]


def test_the_last_of_a_key_counts_and_a_tombstone_deletes(path: Path) -> None:
    upsert = {"insert_mode": "upsert", "pk_mode": "record_key", "delete_enabled": "true"}
    records = [record(0, {"id": 1, "name": "a"}), record(1, {"id": 1, "name": "b"})]
    assert write(path, [*records, record(2, {"id": 2, "name": "c"}, key=2)], **upsert) == [
        (1, "b"),
        (2, "c"),
    ]
    gone = [record(3, {"id": 1, "name": "x"}), record(4, None), record(5, None, key=2)]
    again = record(6, {"id": 2, "name": "d"}, key=2)
    assert write(path, [*gone, again], **upsert) == [(2, "d")]


def test_updates_change_rows_that_are_there(path: Path) -> None:
    write(path, [record(0, {"id": 1, "name": "a"})], pk_mode="record_value", pk_fields="id")
    changed = [record(1, {"id": 1, "name": "b"}), record(2, {"id": 9, "name": "z"})]
    update = {"insert_mode": "update", "pk_mode": "record_value", "pk_fields": "id"}
    assert write(path, changed, **update) == [(1, "b")]


def test_a_place_in_the_topic_may_be_the_key(path: Path) -> None:
    found = write(path, [record(7, {"id": 1, "name": "a"})], pk_mode="kafka")
    assert found == [("t", 0, 7, 1, "a")]


def test_new_fields_become_columns_if_wanted(path: Path) -> None:
    write(path, [record(0, {"id": 1, "name": "a"})])
    wider = struct([*((each.name, each.schema) for each in ROW.fields), ("extra", INT64)])
    new = [record(1, {"id": 2, "name": "b", "extra": 5}, wider)]
    with pytest.raises(ConfigError, match=r"t has no extra, and auto.evolve is off"):
        write(path, new)
    assert write(path, new, auto_evolve="true") == [(1, "a", None), (2, "b", 5)]


def test_what_does_not_fit_is_refused(path: Path) -> None:
    with pytest.raises(ConfigError, match=r"auto.create is off"):
        write(path, [record(0, {"id": 1, "name": "a"})], auto_create="false")
    with pytest.raises(DataError, match=r"needs delete.enabled"):
        write(path, [record(0, None)], pk_mode="record_key")
    with pytest.raises(DataError, match="values with fields"):
        write(path, [record(0, "text", STRING)])
    with pytest.raises(ConfigError, match="is not in the record"):
        write(path, [record(0, {"id": 1, "name": "a"})], pk_mode="record_value", pk_fields="zz")
    for settings in ({"insert_mode": "upsert"}, {"delete_enabled": "true"}):
        with pytest.raises(ConfigError):
            write(path, [], **settings)
