"""What a connector's settings make: its server, its filters, its tables and its records."""

from collections.abc import Mapping, Sequence

from moldau.connect.config.values import flag
from moldau.connect.connectors.capture.envelope import EnvelopeWriter
from moldau.connect.connectors.capture.filters import CaptureFilters
from moldau.connect.connectors.capture.places import RecordNames
from moldau.connect.connectors.capture.tables import CapturedTable, TableName
from moldau.connect.connectors.mariadb.catalog import (
    KnownColumn,
    KnownTable,
    ServerCatalog,
    logged_columns,
)
from moldau.connect.connectors.mariadb.changes import BinlogRules, MappedTable
from moldau.connect.connectors.mariadb.envelope_schemas import source_schema
from moldau.connect.connectors.mariadb.event_reading import json_text
from moldau.connect.connectors.mariadb.events import TableMapped
from moldau.connect.connectors.mariadb.modes import modes_of
from moldau.connect.connectors.mariadb.row_images import RowDecoder
from moldau.connect.connectors.mariadb.server import MariaDbServer
from moldau.connect.connectors.mariadb.settings import capture_settings
from moldau.connect.connectors.mariadb.table_schema import ColumnRules, captured_table
from moldau.connect.errors import ConfigError


class BinlogCapture:
    """Holds one ordinary connection, for questions."""

    def __init__(self, config: Mapping[str, str], connector: str = "mariadb") -> None:
        """`connector` is the word for it in records."""
        self.settings = capture_settings(config)
        self.filters = CaptureFilters(config, "database")
        self.server = MariaDbServer(config)
        self.connector = connector
        self.heartbeat_query = config.get("heartbeat.action.query")
        self.records = EnvelopeWriter(
            RecordNames(
                self.settings.prefix,
                "",
                config.get("topic.heartbeat.prefix", "__debezium-heartbeat"),
                flag(config, "tombstones.on.delete", default=True),
            )
        )
        self.connection = self.server.connect()
        self.facts = self.server.facts(self.connection)
        self._rules = ColumnRules(
            modes_of(config),
            self.filters.has_column,
            self.filters.mask,
            source_schema(connector),
            self.facts.is_mariadb,
        )
        self.catalog = ServerCatalog(self.server, self.connection)

    def tables(self) -> list[KnownTable]:
        """All that are captured, in order."""
        return [each for each in self.catalog.tables() if self.filters.has_table(each.name)]

    def change_rules(self) -> BinlogRules:
        """For the stream."""
        settings = self.settings
        return BinlogRules(
            self._logged_table,
            self._table_now,
            settings.skipped,
            settings.has_transactions,
            self.connector,
        )

    def table(
        self, name: TableName, columns: Sequence[KnownColumn], key: Sequence[str]
    ) -> CapturedTable:
        """A table of these columns; settings may name another key."""
        wanted = self.filters.key_of(name)
        topic = self.filters.topic_of(name)
        return captured_table(name, topic, columns, key if wanted is None else wanted, self._rules)

    def _logged_table(self, mapped: TableMapped) -> MappedTable | None:
        if not self.filters.has_table(mapped.name):
            return None
        if not mapped.has_names:
            raise ConfigError(
                f"binlog_row_metadata: the log does not name the columns of {mapped.name}: set it "
                "to FULL, and begin behind what was written before, with a new snapshot"
            )
        known = self.catalog.columns(mapped.name)
        logged, captured = logged_columns(mapped.columns, known)
        table = self.table(mapped.name, captured, self.catalog.key(mapped.name))
        return MappedTable(table, RowDecoder(logged, json_text))

    def _table_now(self, name: TableName) -> CapturedTable | None:
        if not self.filters.has_table(name):
            return None
        return self.table(name, self.catalog.columns(name), self.catalog.key(name))

    def close(self) -> None:
        """Hang up."""
        self.server.close(self.connection)
