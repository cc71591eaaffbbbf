"""Places in MariaDB's log, as records have them."""

from dataclasses import dataclass

from moldau.connect.connector import Source
from moldau.connect.connectors.capture.places import RecordNames
from moldau.connect.connectors.capture.tables import Row, TableName


@dataclass(frozen=True, slots=True)
class BinlogPlace:
    """What the `source` of a record says of where its change is."""

    file: str
    pos: int
    server_id: int
    gtid: str | None
    time_us: int
    """Of the commit."""
    row: int = 0
    """Of the event."""
    connector: str = "mariadb"

    @property
    def transaction(self) -> str:
        """As Debezium names it."""
        return self.gtid or f"file={self.file},pos={self.pos}"

    def source(self, names: RecordNames, table: TableName | None, marker: str) -> Row:
        """The block `source` of a record."""
        return {
            "version": Source.version,
            "connector": self.connector,
            "name": names.prefix,
            "ts_ms": self.time_us // 1000,
            "snapshot": marker,
            "db": "" if table is None else table.schema,
            "sequence": None,
            "ts_us": self.time_us,
            "ts_ns": self.time_us * 1000,
            "table": None if table is None else table.name,
            "server_id": self.server_id,
            "gtid": self.gtid,
            "file": self.file,
            "pos": self.pos,
            "row": self.row,
            "thread": None,
            "query": None,
        }
