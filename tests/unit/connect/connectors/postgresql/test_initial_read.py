"""The first rows, in batches with offsets."""

import pytest

from moldau.connect.connectors.postgresql.capture import Capture
from moldau.connect.connectors.postgresql.initial_read import InitialRead, ReadFrom
from moldau.connect.connectors.postgresql.position import visible_transactions
from moldau.connect.connectors.postgresql.snapshot import TableSnapshot
from unit.connect.connectors.postgresql.databases import Database

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
