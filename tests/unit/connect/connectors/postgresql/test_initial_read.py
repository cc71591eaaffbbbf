"""The first rows, in batches with offsets."""

from collections import Counter
from contextlib import closing

import pytest

from moldau.connect.connectors.postgresql.capture import Capture
from moldau.connect.connectors.postgresql.initial_read import InitialRead, ReadFrom
from moldau.connect.connectors.postgresql.position import visible_transactions
from moldau.connect.connectors.postgresql.snapshot import TableSnapshot
from moldau.connect.data.record import ConnectRecord
from unit.connect.connectors.postgresql.databases import Database, Reader

pytestmark = pytest.mark.needs("postgres")


def read_of(capture: Capture) -> InitialRead:
    snapshot = TableSnapshot(capture.server, "test", "serializable")
    moment = snapshot.moment()
    visible = visible_transactions(moment.visible, moment.lsn)
    before = {"lsn_commit": 5, "ts_usec": 1}
    return InitialRead(capture, ReadFrom(snapshot, moment, 77, before, visible))


def test_the_last_batch_says_that_it_is(database: Database) -> None:
    database.run(
        "CREATE TABLE a (i integer)",
        "CREATE TABLE b (i integer)",
        "INSERT INTO a SELECT generate_series(1, 5)",
    )
    capture = database.capture(max_batch_size="2")
    found = read_of(capture)
    batches = []
    while not found.is_complete:
        batches.append(found.batch(1000))
    assert [len(list(each.records)) for each in batches] == [2, 2, 1]
    assert [each.offset["snapshot_completed"] for each in batches] == [False, False, True]
    last = batches[-1]
    (record,) = last.records
    assert isinstance(record.value.value, dict)
    assert record.value.value["source"]["snapshot"] == "last"
    assert (last.offset["lsn"], last.offset["lsn_commit"]) == (77, 5)
    assert found.visible is not None
    assert last.offset["moldau_snapshot"] == found.visible.text
    found.close()
    capture.close()


def test_empty_tables_are_one_empty_batch(database: Database) -> None:
    database.run("CREATE TABLE a (i integer)", "CREATE TABLE b (i integer)")
    database.run("INSERT INTO b VALUES (1)")
    capture = database.capture(snapshot_include_collection_list=r"public\.a")
    found = read_of(capture)
    assert list(found.batch(5).records) == []
    assert found.is_complete
    capture.close()


def test_tables_that_are_read_at_a_time_are_followed_without_a_gap(database: Database) -> None:
    names = ("a", "b", "c")
    for name in names:
        database.run(f"CREATE TABLE {name} (id integer PRIMARY KEY)")
        database.run(f"INSERT INTO {name} SELECT generate_series(1, 500)")
    settings = database.config(snapshot_max_threads="2", max_batch_size="100")
    with closing(Reader(settings)) as given_up:
        given_up.step()
        for name in names:
            database.run(f"INSERT INTO {name} VALUES (501)", f"DELETE FROM {name} WHERE id = 1")
    # Nothing says how far each table was read: all are read again.
    with closing(Reader(settings, given_up.offset)) as again:
        again.until(lambda: again.offset is not None and again.offset["snapshot_completed"] is True)
        found = [marker_of(each) for each in again.records]
        inner = {"first_in_data_collection": 2, "last_in_data_collection": 2}
        assert Counter(found) == {"first": 1, "last": 1, "true": 1494, **inner}
        assert (found[0], found[-1]) == ("first", "last")
        for name in names:
            database.run(f"INSERT INTO {name} VALUES (502)")
        rows = {(number,): {"id": number} for number in range(2, 503)}
        again.until(lambda: all(again.image(f"p.public.{name}") == rows for name in names))


def marker_of(record: ConnectRecord) -> str:
    assert isinstance(record.value.value, dict)
    return str(record.value.value["source"]["snapshot"])
