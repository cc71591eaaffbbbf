"""Tables into topics, by polling, with the settings of the JDBC source connector.

`incrementing` sees new rows, `timestamp` rows that changed as well, and both together miss none
of equal times; none of them sees deleted rows. Each table is a partition; a query is one, too.
"""

import datetime as dt
import re
import time
from collections.abc import Mapping, Sequence

from moldau.connect.config.definition import PluginSetting, at_least, one_of
from moldau.connect.config.values import flag, listed, number, required
from moldau.connect.connector import Offset, Source, SourceBatch, SourcePartition
from moldau.connect.connectors.sql.database import Database, Row, quoted
from moldau.connect.connectors.sql.link import SETTINGS, DatabaseLink
from moldau.connect.connectors.sql.polling import (
    BULK,
    ID,
    MODES,
    STAMP,
    PollOrder,
    Relation,
    table_relation,
    time_offset,
)
from moldau.connect.connectors.sql.sqlite import Sqlite
from moldau.connect.connectors.sql.types import row_schema, value_of
from moldau.connect.data.arrow import table_of
from moldau.connect.data.logical import EPOCH
from moldau.connect.errors import ConfigError

_TABLE, _QUERY = "table", "query"
_NOW = -1
_LISTS = ("table.whitelist", "table.blacklist", "table.include.list", "table.exclude.list")


class JdbcSource(Source):
    """One of the modes, for all tables alike."""

    settings = (
        *SETTINGS,
        PluginSetting("mode", required=True, importance="HIGH", check=one_of(*MODES)),
        *(PluginSetting(each, "LIST", "") for each in _LISTS),
        PluginSetting("query", default=""),
        PluginSetting("query.suffix", default=""),
        PluginSetting("incrementing.column.name", default=""),
        PluginSetting("timestamp.column.name", "LIST", ""),
        PluginSetting("incrementing.initial", "LONG"),
        PluginSetting("timestamp.initial", "LONG"),
        PluginSetting("timestamp.delay.interval.ms", "LONG", "0"),
        PluginSetting("validate.non.null", "BOOLEAN", "false"),
        PluginSetting("topic.prefix", required=True, importance="HIGH"),
        PluginSetting("batch.max.rows", "INT", "1000", check=at_least(1)),
        PluginSetting("poll.interval.ms", "INT", "5000"),
        PluginSetting("table.poll.interval.ms", "LONG", "60000", check=at_least(1)),
    )

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._mode = required(config, "mode")
        if self._mode not in MODES:
            raise ConfigError(f"mode: {self._mode} is none of {', '.join(MODES)}")
        self._prefix = required(config, "topic.prefix")
        self._query = config.get("query", "").strip().rstrip(";")
        if self._query and any(listed(config, each) for each in _LISTS):
            raise ConfigError("query: a list of tables cannot be set as well")
        self._delay_ms = number(config, "timestamp.delay.interval.ms", 0)
        self._rows_max = number(config, "batch.max.rows", 1000)
        self.poll_interval_s = number(config, "poll.interval.ms", 5000) / 1000
        if not self._query and not listed(config, "table.whitelist"):
            self.partitions_interval_s = number(config, "table.poll.interval.ms", 60_000) / 1000
        self._bulk_at_s: dict[str, float] = {}
        self._link = DatabaseLink(config)
        self.runs_anywhere = self._mode != BULK  # when it was last read is no part of the offset

    @property
    def database(self) -> Database:
        """Connected when it is first needed."""
        return self._link.database

    def partitions(self) -> Sequence[SourcePartition]:
        """All tables, or those that the lists leave; a query is one by itself."""
        if self._query:
            return [{_QUERY: _QUERY}]
        wanted = listed(self.config, "table.whitelist")
        tables = wanted or [each for each in self.database.tables() if self._is_wanted(each)]
        return [{"protocol": "1", _TABLE: each} for each in tables]

    def _is_wanted(self, table: str) -> bool:
        if table in listed(self.config, "table.blacklist"):
            return False
        included, excluded = (
            [re.compile(each) for each in listed(self.config, f"table.{word}.list")]
            for word in ("include", "exclude")
        )
        if any(each.fullmatch(table) for each in excluded):
            return False
        return not included or any(each.fullmatch(table) for each in included)

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        """Rows after an offset, in the order of the mode's columns."""
        if self._mode == BULK and not self._bulk_is_due(str(partition.get(_TABLE, ""))):
            return None
        relation = self._relation(partition)
        if self._mode == BULK:
            return self._bulk(relation)
        order = PollOrder.of(self.config, self._mode, relation)
        if flag(self.config, "validate.non.null", default=False):
            order.check_not_null(relation)
        if start is None:
            start = self._first()
            if start and number(self.config, "timestamp.initial", 0) == _NOW:
                return SourceBatch([], start)  # so that it is the same now after a restart
        until = dt.datetime.now(dt.UTC) - dt.timedelta(milliseconds=self._delay_ms)
        condition, parameters = order.condition(start, until, self._stored_time)
        count = min(limit, self._rows_max)
        condition = f"{condition} ORDER BY {order.text} LIMIT {count}"
        rows = self._select(relation, condition, parameters)
        if not rows:
            return None
        last = dict(zip(relation.names, rows[-1], strict=True))
        if order.number is None and len(rows) == count:
            rows = self._with_equals(relation, order, rows)
        return SourceBatch([self._table(relation, rows)], order.offset(last))

    def _first(self) -> dict[str, object]:
        """Where to begin."""
        found: dict[str, object] = {}
        if ID in self._mode and "incrementing.initial" in self.config:
            found[ID] = number(self.config, "incrementing.initial", _NOW)
        if STAMP in self._mode and "timestamp.initial" in self.config:
            initial_ms = number(self.config, "timestamp.initial", 0)
            moment = EPOCH + dt.timedelta(milliseconds=initial_ms)
            found |= time_offset(dt.datetime.now(dt.UTC) if initial_ms == _NOW else moment)
        return found

    def _relation(self, partition: SourcePartition) -> Relation:
        if _QUERY in partition:
            columns = self.database.query_columns(self._query)
            return Relation("", f"({self._query}\n) AS polled", columns)
        table = str(partition[_TABLE])
        return table_relation(table, self.database.columns(table))

    def _with_equals(self, relation: Relation, order: PollOrder, rows: list[Row]) -> list[Row]:
        """All rows of the last time: a batch that ended among them would lose the others."""
        times = [order.time_of(dict(zip(relation.names, row, strict=True))) for row in rows]
        whole = self._select(relation, f"{order.time} = ?", [times[-1]])
        return [*(row for row, at in zip(rows, times, strict=True) if at != times[-1]), *whole]

    def _select(self, relation: Relation, condition: str, parameters: Row) -> list[Row]:
        listing = ", ".join(map(quoted, relation.names))
        chosen = f"FROM {relation.text} WHERE {condition} {self.config.get('query.suffix', '')}"
        return self.database.query(f"SELECT {listing} {chosen}".rstrip(), parameters)

    def _bulk_is_due(self, table: str) -> bool:
        now_s = time.monotonic()
        if now_s < self._bulk_at_s.get(table, 0.0):
            return False
        self._bulk_at_s[table] = now_s + self.poll_interval_s
        return True

    def _bulk(self, relation: Relation) -> SourceBatch | None:
        rows = self._select(relation, "1 = 1", ())
        return SourceBatch([self._table(relation, rows)], {}) if rows else None

    def _stored_time(self, moment: dt.datetime) -> object:
        """SQLite has no times: texts as CURRENT_TIMESTAMP writes them, in UTC."""
        if not isinstance(self.database, Sqlite):
            return moment
        text = moment.strftime("%Y-%m-%d %H:%M:%S")
        return f"{text}.{moment.microsecond:06d}".rstrip("0").rstrip(".")

    def _table(self, relation: Relation, rows: Sequence[Row]) -> object:
        is_sqlite = isinstance(self.database, Sqlite)
        schema = row_schema(relation.name or None, relation.columns, is_sqlite=is_sqlite)
        topic = f"{self._prefix}{relation.name}"
        found = ({"value": value_of(schema, row), "topic": topic} for row in rows)
        return table_of(None, schema, found)

    def close(self) -> None:
        """Hang up."""
        self._link.close()
