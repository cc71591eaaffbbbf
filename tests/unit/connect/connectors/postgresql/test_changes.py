"""Changes are collected up to commits, once each."""

from dataclasses import replace

from moldau.connect.connectors.capture.changes import (
    Change,
    LoggedMessage,
    Order,
    RowChange,
    TransactionBegin,
    TransactionEnd,
)
from moldau.connect.connectors.capture.tables import CapturedTable
from moldau.connect.connectors.postgresql.changes import ChangeCollector, ChangeRules
from moldau.connect.connectors.postgresql.pgoutput import RelationMessage, decode_message
from moldau.connect.connectors.postgresql.places import LogPlace
from moldau.connect.connectors.postgresql.position import LogPosition, stored_offset
from unit.connect.connectors.postgresql.messages import (
    begin,
    cells,
    commit,
    delete,
    insert,
    logical,
    name,
    relation,
    truncate,
    update,
)
from unit.connect.connectors.postgresql.tables import table

COLUMNS = (("id", 23, True), ("name", 25, False), ("note", 25, False))
TABLE = (0, relation(1, "s", "t", *COLUMNS))
TRANSACTION = [
    (0, relation(2, "s", "other", *COLUMNS)),
    (110, begin(200, 7)),
    (110, insert(1, "1", "a", None)),
    (120, insert(2, "9", "a", None)),
    (130, update(1, cells("1", "b", None))),
    (140, update(1, cells("2", "b", None), b"K" + cells("1", None, None))),
    (150, delete(1, b"K", cells("2", None, None))),
    (220, commit(200, 220)),
]


def known(message: RelationMessage) -> CapturedTable | None:
    return table(message.name) if message.name == "t" else None


RULES = ChangeRules(known)


def collected(
    messages: list[tuple[int, bytes]],
    position: LogPosition = LogPosition(100),  # noqa: B008 - frozen
    rules: ChangeRules = RULES,
) -> ChangeCollector:
    found = ChangeCollector(position, rules)
    for lsn, data in messages:
        found.take(lsn, decode_message(data), len(data))
    return found


def at(change: Change) -> LogPlace:
    assert isinstance(change.place, LogPlace)
    return change.place


def shown(changes: list[Change]) -> list[tuple[str, int]]:
    return [
        (each.operation, at(each).lsn) if isinstance(each, RowChange) else ("", at(each).lsn)
        for each in changes
    ]


def test_a_transaction_is_its_changes_of_captured_tables() -> None:
    found = collected([TABLE, *TRANSACTION])
    assert not found.is_within
    assert found.size_bytes > 0
    changes = found.cut()
    assert shown(changes) == [
        *(("c", 110), ("u", 130), ("d", 140), ("c", 140), ("d", 150)),
    ]
    assert {at(each).last_commit_lsn for each in changes} == {100}
    assert {at(each).tx_id for each in changes} == {7}
    assert (len(found), found.size_bytes, found.commit_lsn) == (0, 0, 220)
    assert found.offset()["lsn_commit"] == 220


def test_an_update_of_the_key_is_a_row_that_goes_and_one_that_comes() -> None:
    old_row, new_row = collected([TABLE, *TRANSACTION]).cut()[2:4]
    assert isinstance(old_row, RowChange)
    assert isinstance(new_row, RowChange)
    assert (old_row.other_key, new_row.other_key) == ({"id": 2}, {"id": 1})


def test_a_part_of_a_transaction_says_how_much_was_given() -> None:
    stream = [TABLE, *TRANSACTION]
    for count in range(4, len(stream)):
        first = collected(stream[:count])
        assert first.is_within
        given, offset = first.cut(), first.offset()
        again = collected(stream, stored_offset(offset).position)
        assert shown(given + again.cut()) == shown(collected(stream).cut())
        assert again.offset() == collected(stream).offset()


def test_what_was_stored_does_not_come_again() -> None:
    assert collected([TABLE, *TRANSACTION], LogPosition(220)).cut() == []
    java = {"lsn_commit": 100, "lsn_proc": 130, "messageType": "UPDATE"}
    rest = collected([TABLE, *TRANSACTION], stored_offset(java).position).cut()
    assert shown(rest) == [("d", 140), ("c", 140), ("d", 150)]


def test_rows_of_one_place_come_twice_rather_than_never() -> None:
    java = {"lsn_commit": 100, "lsn_proc": 120, "messageType": "INSERT"}
    rows = [(lsn, insert(1, str(lsn), "a", None)) for lsn in (110, 120, 120, 120, 130)]
    stream = [TABLE, (110, begin(200, 7)), *rows, (220, commit(200, 220))]
    found = collected(stream, stored_offset(java).position).cut()
    assert [lsn for _, lsn in shown(found)] == [120, 120, 120, 130]


def test_transactions_are_counted_if_they_are_wanted() -> None:
    rules = replace(RULES, has_transactions=True)
    changes = collected([TABLE, *TRANSACTION], rules=rules).cut()
    begun, *rows, ended = changes
    assert isinstance(begun, TransactionBegin)
    assert isinstance(ended, TransactionEnd)
    assert (at(begun).lsn, at(ended).lsn, ended.counts) == (110, 220, {"s.t": 5})
    assert [each.order for each in rows if isinstance(each, RowChange)] == [
        Order(number, number) for number in range(1, 6)
    ]
    first = collected([TABLE, *TRANSACTION[:4]], rules=rules)
    first.cut()
    again = collected([TABLE, *TRANSACTION], stored_offset(first.offset()).position, rules).cut()
    assert shown(again) == shown(changes[2:])
    assert [each.order for each in again if isinstance(each, RowChange)] == [
        Order(number, number) for number in range(2, 6)
    ]
    assert isinstance(again[-1], TransactionEnd)
    assert again[-1].counts == {"s.t": 5}


def test_an_empty_transaction_has_a_beginning_and_an_end() -> None:
    stream = [(105, begin(200, 7)), (220, commit(200, 220))]
    found = collected(stream, rules=replace(RULES, has_transactions=True)).cut()
    assert [type(each) for each in found] == [TransactionBegin, TransactionEnd]
    assert [at(each).lsn for each in found] == [105, 220]
    assert collected(stream).cut() == []


def test_operations_can_be_skipped_and_truncates_are_unless_wanted() -> None:
    stream = [TABLE, *TRANSACTION[:2], (115, truncate(1, 2)), *TRANSACTION[2:]]
    assert "t" not in [kind for kind, _ in shown(collected(stream).cut())]
    all_of_them = replace(RULES, skipped=frozenset())
    assert [kind for kind, _ in shown(collected(stream, rules=all_of_them).cut())].count("t") == 1
    creations = replace(RULES, skipped=frozenset("c"))
    assert [kind for kind, _ in shown(collected(stream, rules=creations).cut())] == [
        *("t", "u", "d", "d")
    ]


def test_messages_of_applications() -> None:
    within = (115, logical(115, "p", b"x"))
    beside = (118, logical(118, "p", b"y", is_transactional=False))
    old = (50, logical(50, "p", b"z", is_transactional=False))
    stream = [TABLE, old, beside, *TRANSACTION[:2], within, *TRANSACTION[2:]]
    found = [each for each in collected(stream).cut() if isinstance(each, LoggedMessage)]
    assert [(each.content, at(each).tx_id) for each in found] == [(b"y", None), (b"x", 7)]
    assert not any(
        isinstance(each, LoggedMessage)
        for each in collected(stream, rules=replace(RULES, skipped=frozenset("m"))).cut()
    )


def test_the_origin_of_a_transaction_is_told() -> None:
    origin = (0, b"O" + (77).to_bytes(8, "big") + name("north"))
    kind = (0, b"Y" + (5).to_bytes(4, "big") + name("s") + name("mood"))
    found = collected([TABLE, TRANSACTION[1], origin, kind, *TRANSACTION[2:]]).cut()
    assert {(at(each).origin, at(each).origin_lsn) for each in found} == {("north", 77)}
