"""What the log of rows says, one after the other: the events that a capture needs."""

from collections.abc import Sequence
from dataclasses import dataclass

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.mariadb.row_images import LogColumn

INSERTED, UPDATED, DELETED = "c", "u", "d"


@dataclass(frozen=True, slots=True)
class FileBegun:
    """What follows is in this file; ids of tables are given anew."""

    file: str
    position: int


@dataclass(frozen=True, slots=True)
class GroupBegun:
    """A transaction begins, or a statement that is one by itself."""

    gtid: str | None
    """None where the server gives no ids to transactions."""
    position: int
    """Where it begins in its file."""
    time_s: int
    server_id: int


@dataclass(frozen=True, slots=True)
class TableMapped:
    """The table that an id stands for in the following rows."""

    id: int
    name: TableName
    columns: Sequence[LogColumn]
    has_names: bool
    """False if the log has no names, since `binlog_row_metadata` was not FULL."""


@dataclass(frozen=True, slots=True)
class RowsChanged:
    """Rows of one table; those of an update are pairs of an old and a new one."""

    table_id: int
    operation: str
    position: int
    """Where the event is in its file."""
    data: bytes
    is_whole: bool
    """False if only some of the columns are there (`binlog_row_image`)."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What is not about rows: commits, and whatever changes tables."""

    database: str
    text: str
    end_position: int
    is_within: bool
    """Whether the transaction goes on after it."""


@dataclass(frozen=True, slots=True)
class GroupEnded:
    """The transaction is committed."""

    end_position: int


@dataclass(frozen=True, slots=True)
class Idle:
    """The server has nothing new."""


LogEvent = FileBegun | GroupBegun | TableMapped | RowsChanged | Statement | GroupEnded | Idle
