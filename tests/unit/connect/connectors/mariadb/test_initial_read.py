"""The first rows, in batches with offsets."""

import pytest

from moldau.connect.connectors.mariadb.capture import BinlogCapture
from moldau.connect.connectors.mariadb.gtids import gtids_of
from moldau.connect.connectors.mariadb.initial_read import TablesRead
from moldau.connect.connectors.mariadb.position import BinlogPosition
from moldau.connect.connectors.mariadb.snapshot import ConsistentRead
from unit.connect.connectors.mariadb.databases import Database

pytestmark = pytest.mark.needs("mariadbd")


def read_of(capture: BinlogCapture, position: BinlogPosition | None = None) -> TablesRead:
    snapshot = ConsistentRead(capture.server, capture.facts, "minimal")
    return TablesRead(capture, snapshot, position or snapshot.position)


def test_the_last_batch_says_that_it_is(database: Database) -> None:
    database.run(
        "CREATE TABLE a (i int)",
        "CREATE TABLE b (i int)",
        "INSERT INTO a VALUES (1), (2), (3), (4), (5)",
    )
    capture = database.capture(max_batch_size="2")
    found = read_of(capture, BinlogPosition("old", 9, gtids_of("0-7-1")))
    batches = []
    while not found.is_complete:
        batches.append(found.batch(1000))
    assert [len(list(each.records)) for each in batches] == [2, 2, 1]
    assert [each.offset["snapshot_completed"] for each in batches] == [False, False, True]
    last = batches[-1]
    (record,) = last.records
    assert isinstance(record.value.value, dict)
    assert record.value.value["source"]["snapshot"] == "last"
    assert (last.offset["file"], last.offset["pos"], last.offset["gtids"]) == ("old", 9, "0-7-1")
    found.close()
    capture.close()


def test_empty_tables_are_one_empty_batch(database: Database) -> None:
    database.run("CREATE TABLE a (i int)", "CREATE TABLE b (i int)", "INSERT INTO b VALUES (1)")
    capture = database.capture(snapshot_include_collection_list=r".*\.a")
    found = read_of(capture)
    assert list(found.batch(5).records) == []
    assert found.is_complete
    capture.close()
