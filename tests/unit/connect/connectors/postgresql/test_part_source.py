"""A reader gives its share of the parts, as one snapshot shows them."""

import pytest

from moldau.connect.connector import reader_partition
from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.postgresql import table_parts
from moldau.connect.connectors.postgresql.part_source import PartSource, SharedParts, shared_parts
from moldau.connect.connectors.postgresql.places import LogPlace
from moldau.connect.connectors.postgresql.snapshot import TableSnapshot
from moldau.connect.connectors.postgresql.table_parts import TableCut, TableParts
from moldau.connect.errors import ConnectError, RetriableConnectError
from unit.connect.connectors.postgresql.databases import Database

A = TableName("public", "a")
PLACE = LogPlace(77, None, 5, 9_000_000)


def test_readers_share_all_parts_but_the_first_and_the_last() -> None:
    shared = SharedParts("s", PLACE, TableParts([TableCut(A, 8, 0, 7)]), 2)
    assert shared_parts(shared.setting()) == shared
    read: dict[int, list[int]] = {}
    for reader in shared.numbers:
        offset = shared.start()
        while (number := shared.number(reader, offset)) is not None:
            read.setdefault(reader, []).append(number)
            offset = shared.after(offset)
    assert read == {1: [1, 3, 5], 2: [2, 4]}


def test_the_offset_of_another_snapshot_is_none() -> None:
    shared = SharedParts("s", PLACE, TableParts([TableCut(A, 8, 0, 7)]), 2)
    for offset in (None, {"snapshot": "other", "parts": 0}):
        with pytest.raises(ConnectError, match="snapshot s is read no longer"):
            shared.number(1, offset)


@pytest.mark.needs("postgres")
def test_rows_are_those_that_the_snapshot_shows(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_parts, "PART_BYTES", 2**14)
    database.run("CREATE TABLE a (id integer PRIMARY KEY, v text)")
    database.run("INSERT INTO a SELECT i, repeat('x', 100) FROM generate_series(1, 500) i")
    capture = database.capture()
    snapshot = TableSnapshot(capture.server, "test", "serializable")
    cuts, rest = snapshot.cut([A])
    assert rest == []
    shared = SharedParts(snapshot.share(), PLACE, TableParts(cuts), 1)
    assert len(shared.parts) > 3
    database.run("INSERT INTO a VALUES (501, 'later')", "DELETE FROM a WHERE id % 2 = 0")
    found = [
        int(row.cells[0] or "")  # type: ignore[arg-type]
        for number in (0, len(shared.parts) - 1)
        for row in snapshot.part_rows(shared.parts.part(number), capture.table)
    ]
    source = PartSource({**database.config(), **shared.setting()})
    partition, offset = reader_partition({"server": "p"}, 1), shared.start()
    markers = set()
    while (batch := source.read(partition, offset, 10)) is not None:
        for record in batch.records:
            value = record.value.value
            assert isinstance(value, dict)
            found.append(value["after"]["id"])
            markers.add((value["source"]["snapshot"], value["source"]["lsn"], record.topic))
        offset = batch.offset
    assert sorted(found) == list(range(1, 501))
    assert markers == {("true", 77, "p.public.a")}
    source.close()
    snapshot.close()
    late = PartSource({**database.config(), **shared.setting()})
    with pytest.raises(RetriableConnectError, match="snapshot"):
        late.read(partition, shared.start(), 10)
    late.close()
    capture.close()


@pytest.mark.needs("postgres")
def test_a_table_stays_as_it_is_while_parts_are_read(database: Database) -> None:
    database.run("CREATE TABLE a (id integer)")  # without rows, nothing else locks it
    capture = database.capture()
    snapshot = TableSnapshot(capture.server, "test", "repeatable_read")
    snapshot.cut([A])
    held = database.rows(
        "SELECT count(*) FROM pg_locks WHERE relation = 'a'::regclass "
        "AND mode = 'AccessShareLock' AND granted"
    )
    assert held == [(1,)], "what rewrites a table waits for it"
    snapshot.close()
    capture.close()
