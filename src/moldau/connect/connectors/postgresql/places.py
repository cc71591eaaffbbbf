"""Places in PostgreSQL's log, as records have them."""

from dataclasses import dataclass

from moldau.connect.connector import Source
from moldau.connect.connectors.capture.places import RecordNames
from moldau.connect.connectors.capture.tables import Row, TableName


@dataclass(slots=True)
class LogPlace:
    """What the `source` of a record says of where its change is."""

    lsn: int
    last_commit_lsn: int | None
    tx_id: int | None
    time_us: int
    """Of the commit."""
    origin: str | None = None
    origin_lsn: int | None = None

    @property
    def transaction(self) -> str:
        """As Debezium names it: this place, too, is part of the name."""
        return f"{self.tx_id}:{self.lsn}"

    def source(self, names: RecordNames, table: TableName | None, marker: str) -> Row:
        """The block `source` of a record."""
        last = "null" if self.last_commit_lsn is None else f'"{self.last_commit_lsn}"'
        return {
            "version": Source.version,
            "connector": "postgresql",
            "name": names.prefix,
            "ts_ms": self.time_us // 1000,
            "snapshot": marker,
            "db": names.database,
            "sequence": f'[{last},"{self.lsn}"]',
            "ts_us": self.time_us,
            "ts_ns": self.time_us * 1000,
            "schema": "" if table is None else table.schema,
            "table": "" if table is None else table.name,
            "txId": self.tx_id,
            "lsn": self.lsn,
            "xmin": None,
            "origin": self.origin,
            "origin_lsn": self.origin_lsn,
        }
