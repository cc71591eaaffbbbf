"""What a connector's settings make: its server, its filters, its tables and its records."""

from collections.abc import Mapping, Sequence

from moldau.connect.config.values import flag
from moldau.connect.connectors.capture.envelope import EnvelopeWriter, MessageSchemas
from moldau.connect.connectors.capture.filters import CaptureFilters
from moldau.connect.connectors.capture.places import RecordNames
from moldau.connect.connectors.capture.tables import CapturedTable, TableName
from moldau.connect.connectors.postgresql.catalog import Catalog
from moldau.connect.connectors.postgresql.changes import ChangeRules
from moldau.connect.connectors.postgresql.envelope_schemas import MESSAGE_KEY, MESSAGE_VALUE
from moldau.connect.connectors.postgresql.modes import modes_of
from moldau.connect.connectors.postgresql.pgoutput import RelationMessage
from moldau.connect.connectors.postgresql.publication import PublicationSettings
from moldau.connect.connectors.postgresql.server import DatabaseServer
from moldau.connect.connectors.postgresql.settings import capture_settings
from moldau.connect.connectors.postgresql.table_schema import (
    CapturedColumn,
    RowRules,
    captured_table,
)


class Capture:
    """Holds one ordinary connection, for questions."""

    def __init__(self, config: Mapping[str, str]) -> None:
        self.config = config
        self.settings = capture_settings(config)
        self.filters = CaptureFilters(config)
        self.server = DatabaseServer(config)
        self.heartbeat_query = config.get("heartbeat.action.query")
        self.publication = PublicationSettings(
            config.get("publication.name", "dbz_publication"),
            config.get("publication.autocreate.mode", "all_tables"),
            flag(config, "publish.via.partition.root", default=False),
        )
        self.records = EnvelopeWriter(
            RecordNames(
                self.settings.prefix,
                self.server.database,
                config.get("topic.heartbeat.prefix", "__debezium-heartbeat"),
                flag(config, "tombstones.on.delete", default=True),
            ),
            MessageSchemas(MESSAGE_KEY, MESSAGE_VALUE),
        )
        self._rules = RowRules(modes_of(config), self.filters.has_column, self.filters.mask)
        self.connection = self.server.connect(self.settings.slot)
        self.catalog = Catalog(self.server, self.connection)

    def tables(self) -> list[TableName]:
        """All that are captured, in order."""
        found = self.catalog.tables(via_root=self.publication.via_root)
        return [each for each in found if self.filters.has_table(each)]

    def tables_read_first(self) -> list[TableName]:
        """Those whose rows are read before the stream."""
        return [each for each in self.tables() if self.filters.in_snapshot(each)]

    def change_rules(self) -> ChangeRules:
        """For the stream."""
        return ChangeRules(
            self._logged_table, self.settings.skipped, self.settings.has_transactions
        )

    def table(
        self, name: TableName, columns: Sequence[CapturedColumn], key: Sequence[str]
    ) -> CapturedTable:
        """A table of these columns; settings may name another key."""
        wanted = self.filters.key_of(name)
        topic = self.filters.topic_of(name)
        return captured_table(name, topic, columns, key if wanted is None else wanted, self._rules)

    def _logged_table(self, relation: RelationMessage) -> CapturedTable | None:
        name = TableName(relation.schema, relation.name)
        if not self.filters.has_table(name):
            return None
        return self.table(name, self.catalog.logged_columns(relation), self.catalog.key(name))

    def close(self) -> None:
        """Hang up."""
        self.connection.close()
