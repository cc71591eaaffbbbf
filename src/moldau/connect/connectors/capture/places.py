"""Where changes are: what a database's own log says of that, and how records have it."""

from dataclasses import dataclass
from typing import Protocol

from moldau.connect.connectors.capture.tables import Row, TableName


@dataclass(frozen=True, slots=True)
class RecordNames:
    """What records are called after."""

    prefix: str
    database: str
    heartbeat_prefix: str = "__debezium-heartbeat"
    has_tombstones: bool = True


class Place(Protocol):
    """Of a change in the log, or of a row that was read."""

    @property
    def time_us(self) -> int:
        """When it was committed."""

    @property
    def transaction(self) -> str:
        """The name of its transaction."""

    def source(self, names: RecordNames, table: TableName | None, marker: str) -> Row:
        """The block `source` of a record; `marker` says whether it is of a snapshot."""
