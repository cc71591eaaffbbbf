"""Records of changes; whole ones are compared with Debezium's golden records."""

from dataclasses import replace

import pytest

from moldau.connect.connectors.capture.cells import Cells, Toast
from moldau.connect.connectors.capture.changes import (
    CREATE,
    DELETE,
    TRUNCATE,
    UPDATE,
    Change,
    LoggedMessage,
    Order,
    RowChange,
    TransactionEnd,
)
from moldau.connect.connectors.capture.envelope import (
    EnvelopeWriter,
    MessageSchemas,
    snapshot_marker,
)
from moldau.connect.connectors.capture.places import RecordNames
from moldau.connect.connectors.postgresql.envelope_schemas import MESSAGE_KEY, MESSAGE_VALUE
from moldau.connect.connectors.postgresql.places import LogPlace
from moldau.connect.data.record import ConnectRecord
from unit.connect.connectors.postgresql.tables import table

PLACE = LogPlace(50, 40, 7, 1_000_001)
MESSAGES = MessageSchemas(MESSAGE_KEY, MESSAGE_VALUE)
WRITER = EnvelopeWriter(RecordNames("p", "db"), MESSAGES, lambda: 2_000_000_003)


def records(change: Change, writer: EnvelopeWriter = WRITER) -> list[ConnectRecord]:
    return list(writer.streamed([change]))


def rows(record: ConnectRecord) -> tuple[object, object]:
    value = record.value.value
    assert isinstance(value, dict)
    return value["before"], value["after"]


def test_a_new_row() -> None:
    order = Order(3, 1)
    (found,) = records(RowChange(table(), CREATE, PLACE, new=["1", "a", None], order=order))
    assert (found.topic, found.key.value, found.headers) == ("p.s.t", {"id": 1}, ())
    assert found.value.value == {
        "before": None,
        "after": {"id": 1, "name": "a", "note": None},
        "source": {
            "version": "0.1.0",
            "connector": "postgresql",
            "name": "p",
            "ts_ms": 1000,
            "snapshot": "false",
            "db": "db",
            "sequence": '["40","50"]',
            "ts_us": 1_000_001,
            "ts_ns": 1_000_001_000,
            "schema": "s",
            "table": "t",
            "txId": 7,
            "lsn": 50,
            "xmin": None,
            "origin": None,
            "origin_lsn": None,
        },
        "transaction": {"id": "7:50", "total_order": 3, "data_collection_order": 1},
        "op": "c",
        "ts_ms": 2000,
        "ts_us": 2_000_000,
        "ts_ns": 2_000_000_003,
    }


def test_the_old_row_is_shown_if_it_is_whole() -> None:
    new: Cells = ["1", "b", Toast.UNCHANGED]
    whole = RowChange(table(), UPDATE, PLACE, ["1", "a", "n"], has_full_old=True, new=new)
    (found,) = records(whole)
    assert rows(found) == (
        {"id": 1, "name": "a", "note": "n"},
        {"id": 1, "name": "b", "note": "n"},
    )
    (found,) = records(replace(whole, old=None, has_full_old=False))
    assert rows(found) == (
        None,
        {"id": 1, "name": "b", "note": "__debezium_unavailable_value"},
    )


def test_a_row_that_is_gone_leaves_a_tombstone_also_without_a_key() -> None:
    gone = RowChange(table(), DELETE, PLACE, old=["1", None, None], other_key={"id": 2})
    first, tombstone = records(gone)
    assert rows(first) == ({"id": 1, "name": "anon", "note": None}, None)
    assert (tombstone.key.value, tombstone.value.value) == ({"id": 1}, None)
    assert [name for each in (first, tombstone) for name, _ in each.headers] == [
        "__debezium.newkey"
    ] * 2
    without = EnvelopeWriter(RecordNames("p", "db", has_tombstones=False))
    assert len(records(gone, without)) == 1
    _, keyless = records(replace(gone, table=table(key="")))
    assert (keyless.key.value, keyless.value.value) == (None, None)


def test_a_row_that_comes_under_another_key_does_not_show_the_old_one() -> None:
    moved = RowChange(
        table(), CREATE, PLACE, ["1", "a", "n"], True, ["2", "a", None], other_key={"id": 1}
    )
    (found,) = records(moved)
    assert rows(found)[0] is None
    ((name, header),) = found.headers
    assert (name, header.value) == ("__debezium.oldkey", {"id": 1})


def test_a_truncated_table_has_neither_rows_nor_a_key() -> None:
    (found,) = records(RowChange(table(), TRUNCATE, PLACE))
    assert (rows(found), found.key.value) == ((None, None), None)


def test_messages_and_transactions_have_topics_of_their_own() -> None:
    message = LoggedMessage(PLACE, "pre", b"x", Order(1, 1))
    (found,) = records(message)
    assert (found.topic, found.key.value) == ("p.message", {"prefix": "pre"})
    (end,) = records(TransactionEnd(PLACE, {"s.t": 2}))
    assert end.topic == "p.transaction"
    assert end.value.value == {
        "status": "END",
        "id": "7:50",
        "event_count": 2,
        "data_collections": [{"data_collection": "s.t", "event_count": 2}],
        "ts_ms": 1000,
    }
    beat = WRITER.heartbeat()
    assert (beat.topic, beat.value.value) == ("__debezium-heartbeat.p", {"ts_ms": 2000})


def test_a_row_of_a_snapshot() -> None:
    place = LogPlace(50, None, 7, 1_000_001)
    source = WRITER.snapshot_source(table(), place, "last")
    found = WRITER.snapshot(table(), ["1", "a", None], source)
    value = found.value.value
    assert isinstance(value, dict)
    assert (value["op"], value["source"]["snapshot"]) == ("r", "last")
    assert value["source"]["sequence"] == '[null,"50"]'


@pytest.mark.parametrize(
    ("first", "last", "first_of", "last_of", "marker"),
    [
        (True, True, True, True, "last"),
        (True, False, True, True, "first"),
        (False, False, True, True, "last_in_data_collection"),
        (False, False, True, False, "first_in_data_collection"),
        (False, False, False, False, "true"),
    ],
)
def test_marks_of_rows(first: bool, last: bool, first_of: bool, last_of: bool, marker: str) -> None:
    found = snapshot_marker(is_first=first, is_last=last, is_first_of=first_of, is_last_of=last_of)
    assert found == marker
