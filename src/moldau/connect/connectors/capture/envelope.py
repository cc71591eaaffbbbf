"""Records in Debezium's form, made of changes of rows, of snapshots and of transactions."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from moldau.connect.connectors.capture.cells import Cells
from moldau.connect.connectors.capture.changes import (
    DELETE,
    TRUNCATE,
    Change,
    LoggedMessage,
    Order,
    RowChange,
    TransactionBegin,
    TransactionEnd,
)
from moldau.connect.connectors.capture.envelope_schemas import (
    HEARTBEAT_KEY,
    HEARTBEAT_VALUE,
    TRANSACTION_KEY,
    TRANSACTION_VALUE,
)
from moldau.connect.connectors.capture.places import Place, RecordNames
from moldau.connect.connectors.capture.tables import CapturedTable, Row
from moldau.connect.data.record import NULL, ConnectRecord, Datum, FixedStruct
from moldau.connect.data.schema import Schema

_READ = "r"
_NEW_KEY, _OLD_KEY = "__debezium.newkey", "__debezium.oldkey"
_STREAMED = "false"
Headers = tuple[tuple[str, Datum], ...]


@dataclass(frozen=True, slots=True)
class MessageSchemas:
    """Of messages that applications write into a log."""

    key: Schema
    value: Schema


@dataclass(slots=True)
class EnvelopeWriter:
    """Makes records, with the time at which it does."""

    names: RecordNames
    messages: MessageSchemas | None = None
    """None if the log has no messages."""
    now_ns: Callable[[], int] = time.time_ns

    def streamed(self, changes: Iterable[Change]) -> Iterator[ConnectRecord]:
        """The records of changes."""
        for each in changes:
            match each:
                case RowChange():
                    record = self._row(each)
                    yield record
                    if each.operation == DELETE and self.names.has_tombstones:
                        yield ConnectRecord(record.topic, record.key, NULL, record.headers)
                case LoggedMessage():
                    yield self._message(each)
                case TransactionBegin():
                    yield self._transaction(each.place, "BEGIN")
                case TransactionEnd():
                    yield self._transaction(each.place, "END", each.counts)

    def snapshot(self, table: CapturedTable, cells: Cells, source: FixedStruct) -> ConnectRecord:
        """A row as it was when the connector began; rows of a table share their source."""
        value = self._envelope(None, table.row(cells), _READ)
        value["source"] = source
        return ConnectRecord(
            table.topic, _key(table, table.key_of(cells)), Datum(value, table.envelope)
        )

    def snapshot_source(self, table: CapturedTable, place: Place, marker: str) -> FixedStruct:
        """Where rows of a table are from; `marker` says which."""
        return FixedStruct(place.source(self.names, table.name, marker))

    def heartbeat(self) -> ConnectRecord:
        """A sign that the connector lives."""
        return ConnectRecord(
            f"{self.names.heartbeat_prefix}.{self.names.prefix}",
            Datum({"serverName": self.names.prefix}, HEARTBEAT_KEY),
            Datum({"ts_ms": self._now() // 1_000_000}, HEARTBEAT_VALUE),
        )

    def _row(self, change: RowChange) -> ConnectRecord:
        table, operation, old, new = change.table, change.operation, change.old, change.new
        after = None if new is None else table.row(new, old if change.has_full_old else None)
        shows_old = change.has_full_old or operation == DELETE
        is_moved = change.other_key is not None and operation != DELETE
        before = table.row(old) if old is not None and shows_old and not is_moved else None
        value = self._envelope(before, after, operation)
        value["source"] = change.place.source(self.names, table.name, _STREAMED)
        value["transaction"] = _block(change.place, change.order)
        key = NULL
        if operation != TRUNCATE:
            known = old if operation == DELETE or new is None else new
            assert known is not None, "a row is new or old"
            key = _key(table, table.key_of(known))
        return ConnectRecord(table.topic, key, Datum(value, table.envelope), _moved(change))

    def _envelope(self, before: Row | None, after: Row | None, operation: str) -> Row:
        now_ns = self.now_ns()
        return {
            "before": before,
            "after": after,
            "source": None,
            "transaction": None,
            "op": operation,
            "ts_ms": now_ns // 1_000_000,
            "ts_us": now_ns // 1000,
            "ts_ns": now_ns,
        }

    def _message(self, logged: LoggedMessage) -> ConnectRecord:
        assert self.messages is not None, "the log has messages"
        value = {
            "op": "m",
            "ts_ms": self._now() // 1_000_000,
            "source": logged.place.source(self.names, None, _STREAMED),
            "transaction": _block(logged.place, logged.order),
            "message": {"prefix": logged.prefix, "content": logged.content},
        }
        return ConnectRecord(
            f"{self.names.prefix}.message",
            Datum({"prefix": logged.prefix}, self.messages.key),
            Datum(value, self.messages.value),
        )

    def _transaction(
        self, place: Place, status: str, counts: Mapping[str, int] | None = None
    ) -> ConnectRecord:
        name = place.transaction
        collections = count = None
        if counts is not None:
            count = sum(counts.values())
            collections = [
                {"data_collection": table, "event_count": each} for table, each in counts.items()
            ]
        value = {
            "status": status,
            "id": name,
            "event_count": count,
            "data_collections": collections,
            "ts_ms": place.time_us // 1000,
        }
        return ConnectRecord(
            f"{self.names.prefix}.transaction",
            Datum({"id": name}, TRANSACTION_KEY),
            Datum(value, TRANSACTION_VALUE),
        )

    def _now(self) -> int:
        return self.now_ns()


def snapshot_marker(*, is_first: bool, is_last: bool, is_first_of: bool, is_last_of: bool) -> str:
    """Which row of a snapshot, and of its table, this is: the widest that is true."""
    if is_last:
        return "last"
    if is_first:
        return "first"
    if is_last_of:
        return "last_in_data_collection"
    return "first_in_data_collection" if is_first_of else "true"


def _key(table: CapturedTable, key: Row | None) -> Datum:
    return NULL if key is None else Datum(key, table.key_schema)


def _moved(change: RowChange) -> Headers:
    if change.other_key is None:
        return ()
    name = _NEW_KEY if change.operation == DELETE else _OLD_KEY
    return ((name, Datum(change.other_key, change.table.key_schema)),)


def _block(place: Place, order: Order | None) -> Row | None:
    if order is None:
        return None
    return {
        "id": place.transaction,
        "total_order": order.total,
        "data_collection_order": order.of_table,
    }
