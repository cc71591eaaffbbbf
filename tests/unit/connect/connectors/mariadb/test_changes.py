"""Changes are collected up to commits, once each."""

from dataclasses import replace

import pytest

from moldau.connect.connectors.capture.changes import (
    Change,
    Order,
    RowChange,
    TransactionBegin,
    TransactionEnd,
)
from moldau.connect.connectors.capture.tables import CapturedTable, TableName
from moldau.connect.connectors.mariadb.changes import BinlogCollector, BinlogRules, MappedTable
from moldau.connect.connectors.mariadb.events import (
    FileBegun,
    GroupBegun,
    GroupEnded,
    Idle,
    LogEvent,
    RowsChanged,
    Statement,
    TableMapped,
)
from moldau.connect.connectors.mariadb.gtids import gtids_of
from moldau.connect.connectors.mariadb.places import BinlogPlace
from moldau.connect.connectors.mariadb.position import BinlogPosition, stored_offset
from moldau.connect.connectors.mariadb.row_images import RowDecoder
from moldau.connect.errors import ConfigError
from unit.connect.connectors.mariadb.tables import LOGGED, table

START = BinlogPosition("f.1", 4, gtids_of("0-7-5"))
T, OTHER = (
    TableMapped(1, TableName("d", "t"), LOGGED, has_names=True),
    TableMapped(2, TableName("d", "other"), LOGGED, has_names=True),
)


def row(number: int, name: str) -> bytes:
    return b"\0" + number.to_bytes(4, "little") + bytes([len(name)]) + name.encode()


def rows(operation: str, position: int, *given: bytes, table_id: int = 1) -> RowsChanged:
    return RowsChanged(table_id, operation, position, b"".join(given), is_whole=True)


TRANSACTION: list[LogEvent] = [
    GroupBegun("0-7-6", 100, 1_000, 7),
    *(T, rows("c", 110, row(1, "a"), row(2, "b"))),
    *(OTHER, rows("c", 120, row(9, "x"), table_id=2)),
    *(T, rows("u", 130, row(1, "a"), row(1, "c"))),
    *(T, rows("u", 140, row(2, "b"), row(3, "b"))),
    *(T, rows("d", 150, row(3, "b"))),
    GroupEnded(200),
]


def known(mapped: TableMapped) -> MappedTable | None:
    if mapped.name.name != "t":
        return None
    return MappedTable(table(), RowDecoder(mapped.columns))


def now(name: TableName) -> CapturedTable | None:
    return table() if name.name == "t" else None


RULES = BinlogRules(known, now)


def collected(
    events: list[LogEvent],
    position: BinlogPosition = START,
    rules: BinlogRules = RULES,
) -> BinlogCollector:
    found = BinlogCollector(position, rules)
    for each in events:
        found.take(each)
    return found


def at(change: Change) -> BinlogPlace:
    assert isinstance(change.place, BinlogPlace)
    return change.place


def shown(changes: list[Change]) -> list[tuple[str, int, int]]:
    return [
        (each.operation if isinstance(each, RowChange) else "", at(each).pos, at(each).row)
        for each in changes
    ]


def test_a_transaction_is_its_changes_of_captured_tables() -> None:
    found = collected(TRANSACTION)
    assert not found.is_within
    assert found.size_bytes > 0
    changes = found.cut()
    assert shown(changes) == [
        *(("c", 110, 0), ("c", 110, 1), ("u", 130, 0)),
        *(("d", 140, 0), ("c", 140, 0), ("d", 150, 0)),
    ]
    assert {(at(each).gtid, at(each).time_us, at(each).server_id) for each in changes} == {
        ("0-7-6", 1_000_000_000, 7)
    }
    update = changes[2]
    assert isinstance(update, RowChange)
    assert (update.old, update.new, update.has_full_old) == (["1", "a"], ["1", "c"], True)
    assert (len(found), found.size_bytes) == (0, 0)
    assert found.position == BinlogPosition("f.1", 200, gtids_of("0-7-6"))


def test_a_part_of_a_transaction_says_how_much_was_given() -> None:
    whole = shown(collected(TRANSACTION).cut())
    for count in range(1, len(TRANSACTION)):
        first = collected(TRANSACTION[:count])
        assert first.is_within
        given, offset = first.cut(), first.offset()
        again = collected(TRANSACTION, stored_offset(offset).position)
        assert shown(given + again.cut()) == whole
        assert again.offset() == collected(TRANSACTION).offset()


def test_transactions_are_counted_if_they_are_wanted() -> None:
    rules = replace(RULES, has_transactions=True)
    changes = collected(TRANSACTION, rules=rules).cut()
    begun, *between, ended = changes
    assert isinstance(begun, TransactionBegin)
    assert isinstance(ended, TransactionEnd)
    assert ended.counts == {"d.t": 6}
    assert [each.order for each in between if isinstance(each, RowChange)] == [
        Order(number, number) for number in range(1, 7)
    ]
    first = collected(TRANSACTION[:3], rules=rules)
    first.cut()
    rest = collected(TRANSACTION, stored_offset(first.offset()).position, rules).cut()
    assert shown(rest) == shown(changes[3:])


def test_truncates_are_skipped_unless_they_are_wanted() -> None:
    statements: list[LogEvent] = [
        GroupBegun("0-7-6", 100, 1_000, 7),
        Statement("d", "TRUNCATE t", 150, is_within=False),
        GroupBegun("0-7-7", 150, 1_000, 7),
        Statement("d", "TRUNCATE other", 180, is_within=False),
    ]
    assert collected(statements).cut() == []
    found = collected(statements, rules=replace(RULES, skipped=frozenset()))
    assert shown(found.cut()) == [("t", 100, 0)]
    assert not found.is_within
    assert found.position == BinlogPosition("f.1", 180, gtids_of("0-7-7"))


def test_operations_can_be_skipped() -> None:
    found = collected(TRANSACTION, rules=replace(RULES, skipped=frozenset("c")))
    assert [kind for kind, *_ in shown(found.cut())] == ["u", "d", "d"]


def test_a_table_is_looked_up_again_when_it_changes_or_a_file_begins() -> None:
    asked: list[TableMapped] = []

    def asking(mapped: TableMapped) -> MappedTable | None:
        asked.append(mapped)
        return known(mapped)

    wider = replace(T, columns=(*LOGGED, LOGGED[0]))
    events: list[LogEvent] = [GroupBegun("0-7-6", 100, 1, 7), T, T, wider, Idle()]
    events += [GroupEnded(150), FileBegun("f.2", 4), GroupBegun("0-7-7", 4, 1, 7), wider]
    found = collected(events, rules=replace(RULES, table_of=asking))
    assert asked == [T, wider, wider]
    assert found.offset()["file"] == "f.2"


def test_rows_without_all_columns_fail_and_say_what_to_set() -> None:
    part = replace(rows("c", 110, row(1, "a")), is_whole=False)
    with pytest.raises(ConfigError, match="binlog_row_image"):
        collected([*TRANSACTION[:2], part])
    assert collected([*TRANSACTION[:1], OTHER, replace(part, table_id=2)]).cut() == []


def test_an_end_without_a_beginning_is_none() -> None:
    found = collected([GroupEnded(50)])
    assert (found.has_moved, found.position) == (False, START)
