"""Events of mysql-replication as the few that a capture needs."""

import codecs
import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from pymysqlreplication import event as its
from pymysqlreplication import row_event as rows
from pymysqlreplication.json_binary import parse_json

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.mariadb.events import (
    DELETED,
    INSERTED,
    UPDATED,
    FileBegun,
    GroupBegun,
    GroupEnded,
    Idle,
    LogEvent,
    RowsChanged,
    Statement,
    TableMapped,
)
from moldau.connect.connectors.mariadb.row_images import (
    BIT,
    DECIMAL,
    ENUM,
    SET,
    YEAR,
    LogColumn,
)
from moldau.connect.errors import ConfigError

NEEDED = (
    *(its.QueryEvent, its.RotateEvent, its.XAPrepareEvent, its.XidEvent, its.GtidEvent),
    *(its.MariadbGtidEvent, its.HeartbeatLogEvent, its.NotImplementedEvent),
    *(rows.UpdateRowsEvent, rows.WriteRowsEvent, rows.DeleteRowsEvent, rows.TableMapEvent),
    rows.PartialUpdateRowsEvent,
)
_OPERATIONS = {
    rows.WriteRowsEvent: INSERTED,
    rows.UpdateRowsEvent: UPDATED,
    rows.DeleteRowsEvent: DELETED,
}
_STANDALONE = 1
_ANONYMOUS_GTID, _TRANSACTION_PAYLOAD = 34, 40
_COMPRESSED = range(165, 172)
_ENDS = ("COMMIT", "ROLLBACK", "XA COMMIT", "XA ROLLBACK")
# Names that Python has otherwise, or not at all.
_ENCODINGS = {
    **dict.fromkeys(("ucs2", "utf16"), "utf_16_be"),
    **dict.fromkeys(("ujis", "eucjpms"), "euc_jp"),
    "utf16le": "utf_16_le",
    "utf32": "utf_32_be",
    "sjis": "shift_jis",
    "euckr": "euc_kr",
    "greek": "iso8859_7",
    "hebrew": "iso8859_8",
    "latin5": "iso8859_9",
    "latin7": "iso8859_13",
    "macce": "mac_latin2",
    "macroman": "mac_roman",
    "tis620": "tis_620",
}


# MySQL's log has no sign of a year, MariaDB's has; the library knows MariaDB's way alone.
_IS_NUMERIC = rows.TableMapEvent._is_numeric_column
_MARIADB_SINCE = (10,)


def _has_sign(event: rows.TableMapEvent, kind: int) -> bool:
    """Whether the log says of a column of this type if it is unsigned."""
    if kind == YEAR and event.mysql_version < _MARIADB_SINCE:
        return False
    return bool(_IS_NUMERIC(kind))


rows.TableMapEvent._is_numeric_column = _has_sign


class EventReading:
    """Remembers whether the events are in a transaction."""

    def __init__(self) -> None:
        self._is_open = False

    def read(self, event: object) -> Iterator[LogEvent]:
        """What an event says; ConfigError for what the server must be set not to write."""
        match event:
            case rows.PartialUpdateRowsEvent():
                raise ConfigError("binlog_row_value_options: set it to nothing, for whole values")
            case rows.UpdateRowsEvent() | rows.WriteRowsEvent() | rows.DeleteRowsEvent():
                yield _rows_changed(event)
            case rows.TableMapEvent():
                yield _mapped(event)
            case its.MariadbGtidEvent():
                self._is_open = not event.flags & _STANDALONE
                yield self._begun(event, event.gtid)
            case its.GtidEvent():
                # Whether more than a statement follows, MySQL says by BEGIN.
                self._is_open = False
                yield self._begun(event, event.gtid)
            case its.XidEvent() | its.XAPrepareEvent():
                self._is_open = False
                yield GroupEnded(event.packet.log_pos)
            case its.QueryEvent():
                yield from self._statement(event)
            case its.RotateEvent():
                yield FileBegun(event.next_binlog, event.position)
            case its.HeartbeatLogEvent():
                yield Idle()
            case its.NotImplementedEvent():
                yield from self._other(event)

    def _begun(self, event: its.BinLogEvent, gtid: str | None) -> GroupBegun:
        packet = event.packet
        begin = packet.log_pos - packet.event_size
        return GroupBegun(gtid, begin, event.timestamp, packet.server_id)

    def _statement(self, event: its.QueryEvent) -> Iterator[LogEvent]:
        text, end = event.query.strip(), event.packet.log_pos
        word = text[:12].upper()
        if word == "BEGIN" or word.startswith("XA START"):
            self._is_open = True
        elif word.startswith(_ENDS):
            self._is_open = False
            yield GroupEnded(end)
        else:
            yield Statement(event.schema.decode(), text, end, self._is_open)

    def _other(self, event: its.NotImplementedEvent) -> Iterator[LogEvent]:
        kind = event.event_type
        if kind == _ANONYMOUS_GTID:
            self._is_open = False
            yield self._begun(event, None)
        elif kind in _COMPRESSED:
            raise ConfigError("log_bin_compress: the log has compressed events: set it to OFF")
        elif kind == _TRANSACTION_PAYLOAD:
            raise ConfigError(
                "binlog_transaction_compression: the log has compressed events: set it to OFF"
            )


def _rows_changed(event: rows.RowsEvent) -> RowsChanged:
    packet, count = event.packet, event.number_of_columns
    bitmaps = [event.columns_present_bitmap]
    if isinstance(event, rows.UpdateRowsEvent):
        bitmaps.append(event.columns_present_bitmap2)
    whole = (1 << count) - 1
    return RowsChanged(
        event.table_id,
        _OPERATIONS[type(event)],
        packet.log_pos - packet.event_size,
        packet.read(event.event_size - packet.read_bytes),
        all(int.from_bytes(each, "little") & whole == whole for each in bitmaps),
    )


def _mapped(event: rows.TableMapEvent) -> TableMapped:
    columns = [_column(each) for each in event.columns]
    name = TableName(event.schema, event.table)
    has_names = bool(event.columns) and all(each.name for each in event.columns)
    return TableMapped(event.table_id, name, columns, has_names)


def _column(column: rows.Column) -> LogColumn:
    given = column.data
    size = given.get("max_length") or given.get("length_size") or given.get("size") or 0
    digits = given.get("fsp") or 0
    if column.type == DECIMAL:
        size, digits = given["precision"], given["decimals"]
    if column.type == BIT:
        size = given["bits"]
    labels: Sequence[str] = ()
    if column.type == ENUM:
        labels = given["enum_values"][1:] if given["enum_values"] else ()
    if column.type == SET:
        labels = given["set_values"] or ()
    has_text = given["character_set_name"] not in (None, "binary")
    return LogColumn(
        column.name or "",
        column.type,
        given["unsigned"],
        size,
        digits,
        _encoding(given["character_set_name"]) if has_text else None,
        tuple(labels),
    )


def _encoding(name: str) -> str:
    found = _ENCODINGS.get(name, name)
    codecs.lookup(found)  # LookupError says which one is missing
    return found


def json_text(data: bytes) -> str:
    """MySQL's binary form of JSON as text; MariaDB's JSON is text already."""
    return _compact(_plain(parse_json(data[0], data[1:])) if data else None)


def json_as_logged(data: bytes) -> str:
    """JSON that MySQL gives as text, in the form that it has in records of its log."""
    return _compact(json.loads(data))


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, Mapping):
        return {_plain(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, Decimal):
        return float(value)
    return value if value is None or isinstance(value, bool | int | float) else str(value)
