"""Tables into topics, by polling, with the settings of the JDBC source connector.

`incrementing` sees new rows, `timestamp` rows that changed as well, and both together miss none
of equal times; none of them sees deleted rows. Each table is a partition.
"""

import datetime as dt
import time
from collections.abc import Mapping, Sequence

from moldau.connect.config.definition import PluginSetting, at_least, one_of
from moldau.connect.config.values import listed, number, required
from moldau.connect.connector import Offset, Source, SourceBatch, SourcePartition
from moldau.connect.connectors.sql.database import Database, Row, quoted, quoted_table
from moldau.connect.connectors.sql.link import SETTINGS, DatabaseLink
from moldau.connect.connectors.sql.sqlite import Sqlite
from moldau.connect.connectors.sql.types import row_schema, value_of
from moldau.connect.data.arrow import table_of
from moldau.connect.data.logical import EPOCH
from moldau.connect.errors import ConfigError, ConnectError, DataError

_MODES = ("bulk", "incrementing", "timestamp", "timestamp+incrementing")
_ID, _STAMP, _NANOS = "incrementing", "timestamp", "timestamp_nanos"


class JdbcSource(Source):
    """One of the modes, for all tables alike."""

    settings = (
        *SETTINGS,
        PluginSetting("mode", required=True, importance="HIGH", check=one_of(*_MODES)),
        PluginSetting("table.whitelist", "LIST", ""),
        PluginSetting("table.blacklist", "LIST", ""),
        PluginSetting("incrementing.column.name", default=""),
        PluginSetting("timestamp.column.name", default=""),
        PluginSetting("timestamp.delay.interval.ms", "LONG", "0"),
        PluginSetting("topic.prefix", required=True, importance="HIGH"),
        PluginSetting("batch.max.rows", "INT", "1000", check=at_least(1)),
        PluginSetting("poll.interval.ms", "INT", "5000"),
    )

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._mode = required(config, "mode")
        if self._mode not in _MODES:
            raise ConfigError(f"mode: {self._mode} is none of {', '.join(_MODES)}")
        self._prefix = required(config, "topic.prefix")
        self._delay_ms = number(config, "timestamp.delay.interval.ms", 0)
        self._rows_max = number(config, "batch.max.rows", 1000)
        self.poll_interval_s = number(config, "poll.interval.ms", 5000) / 1000
        self._bulk_at_s: dict[str, float] = {}
        self._link = DatabaseLink(config)
        self.runs_anywhere = self._mode != "bulk"  # when it was last read is no part of the offset

    @property
    def database(self) -> Database:
        """Connected when it is first needed."""
        return self._link.database

    def partitions(self) -> Sequence[SourcePartition]:
        """All tables, or those that the lists leave."""
        wanted, refused = (
            listed(self.config, "table.whitelist"),
            listed(self.config, "table.blacklist"),
        )
        tables = wanted or [each for each in self.database.tables() if each not in refused]
        return [{"protocol": "1", "table": each} for each in tables]

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        """Rows after an offset, in the order of the mode's columns."""
        table = str(partition["table"])
        if self._mode == "bulk":
            return self._bulk(table)
        columns = self.database.columns(table)
        if not columns:
            raise ConnectError(f"table {table} is not there, or has no columns")
        by_id = self._column("incrementing", table) if _ID in self._mode else None
        by_time = self._column("timestamp", table) if _STAMP in self._mode else None
        condition, parameters = self._condition(by_id, by_time, start or {})
        order = ", ".join(quoted(each) for each in (by_time, by_id) if each is not None)
        count = min(limit, self._rows_max)
        names = [each.name for each in columns]
        rows = self._select(table, names, f"{condition} ORDER BY {order} LIMIT {count}", parameters)
        if not rows:
            return None
        last = dict(zip(names, rows[-1], strict=True))
        if by_id is None and by_time is not None and len(rows) == count:
            rows = self._with_equals(table, names, by_time, rows)
        offset = _offset(last, by_id, by_time)
        return SourceBatch([self._table(table, rows)], offset)

    def _with_equals(
        self, table: str, names: Sequence[str], by_time: str, rows: list[Row]
    ) -> list[Row]:
        """All rows of the last time: a batch that ended among them would lose the others."""
        at = list(names).index(by_time)
        last = rows[-1][at]
        whole = self._select(table, names, f"{quoted(by_time)} = ?", [last])
        return [*(row for row in rows if row[at] != last), *whole]

    def _select(
        self, table: str, names: Sequence[str], condition: str, parameters: Row
    ) -> list[Row]:
        listing = ", ".join(map(quoted, names))
        statement = f"SELECT {listing} FROM {quoted_table(table)} WHERE {condition}"  # noqa: S608
        return self.database.query(statement, parameters)

    def _bulk(self, table: str) -> SourceBatch | None:
        now_s = time.monotonic()
        if now_s < self._bulk_at_s.get(table, 0.0):
            return None
        self._bulk_at_s[table] = now_s + self.poll_interval_s
        names = [each.name for each in self.database.columns(table)]
        rows = self._select(table, names, "1 = 1", ())
        return SourceBatch([self._table(table, rows)], {}) if rows else None

    def _column(self, role: str, table: str) -> str:
        name = self.config.get(f"{role}.column.name", "").strip()
        if name:
            return name
        keys = [each.name for each in self.database.columns(table) if each.is_key]
        if role == "timestamp" or len(keys) != 1:
            raise ConfigError(f"{role}.column.name: table {table} needs one to be named")
        return keys[0]

    def _condition(
        self, by_id: str | None, by_time: str | None, start: Offset
    ) -> tuple[str, list[object]]:
        now = self._stored_time(dt.datetime.now(dt.UTC) - dt.timedelta(milliseconds=self._delay_ms))
        if by_time is None:
            assert by_id is not None, "one of both is there"
            return f"{quoted(by_id)} > ?", [start.get(_ID, -(2**62))]
        at = quoted(by_time)
        since = self._stored_time(_time(start))
        if by_id is None:
            return f"{at} > ? AND {at} < ?", [since, now]
        one = quoted(by_id)
        return (
            f"{at} < ? AND (({at} = ? AND {one} > ?) OR {at} > ?)",
            [now, since, start.get(_ID, -(2**62)), since],
        )

    def _stored_time(self, moment: dt.datetime) -> object:
        """SQLite has no times: texts as CURRENT_TIMESTAMP writes them, in UTC."""
        if not isinstance(self.database, Sqlite):
            return moment
        text = moment.strftime("%Y-%m-%d %H:%M:%S")
        return f"{text}.{moment.microsecond:06d}".rstrip("0").rstrip(".")

    def _table(self, table: str, rows: Sequence[Row]) -> object:
        columns = self.database.columns(table)
        schema = row_schema(table, columns, is_sqlite=isinstance(self.database, Sqlite))
        topic = f"{self._prefix}{table}"
        found = ({"value": value_of(schema, row), "topic": topic} for row in rows)
        return table_of(None, schema, found)

    def close(self) -> None:
        """Hang up."""
        self._link.close()


def _time(start: Offset) -> dt.datetime:
    ms, nanos = start.get(_STAMP, 0), start.get(_NANOS, 0)
    if not isinstance(ms, int) or not isinstance(nanos, int):
        raise ConnectError(f"{dict(start)} is no offset of this connector")
    return EPOCH + dt.timedelta(seconds=ms // 1000, microseconds=nanos // 1000)


def _offset(
    last: Mapping[str, object], by_id: str | None, by_time: str | None
) -> dict[str, object]:
    found: dict[str, object] = {}
    if by_id is not None:
        number_found = last[by_id]
        if not isinstance(number_found, int):
            raise DataError(f"{by_id} is no whole number: {number_found!r}")
        found[_ID] = number_found
    if by_time is not None:
        moment = last[by_time]
        if isinstance(moment, str):
            moment = dt.datetime.fromisoformat(moment)
        if not isinstance(moment, dt.datetime):
            raise DataError(f"{by_time} is no time: {moment!r}")
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=dt.UTC)
        whole = int((aware - EPOCH).total_seconds() // 1)
        found[_STAMP] = whole * 1000 + aware.microsecond // 1000
        found[_NANOS] = aware.microsecond * 1000
    return found
