"""A database that a test fills, and a connector that reads it by hand."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pymysql.connections import Connection
from pymysql.cursors import Cursor

from mariadb import MariaDb
from moldau.connect.connector import Offset
from moldau.connect.connectors.mariadb.capture import BinlogCapture
from moldau.connect.connectors.mariadb.source import MariaDbSource
from moldau.connect.data.record import ConnectRecord

_DEADLINE_S = 60


@dataclass(frozen=True, slots=True)
class Database:
    """A connection on which each statement is a transaction."""

    server: MariaDb
    name: str
    connection: "Connection[Cursor]"

    def run(self, *statements: str) -> None:
        with self.connection.cursor() as cursor:
            for each in statements:
                cursor.execute(each)

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def gtid(self) -> str:
        """Of the last transaction."""
        return str(self.rows("SELECT @@gtid_binlog_pos")[0][0])

    def purge(self) -> None:
        """Have the server throw away all but the last file of its log."""
        ((last, *_),) = self.rows("SHOW MASTER STATUS")
        deadline = time.monotonic() + _DEADLINE_S
        # A file that a reader has just left is kept until the server notices.
        while self.rows("SHOW BINARY LOGS")[0][0] != last:
            assert time.monotonic() < deadline
            self.run(f"PURGE BINARY LOGS TO '{last}'")

    def config(self, **changed: str) -> dict[str, str]:
        """Settings of a connector for this database."""
        named = {name.replace("_", "."): text for name, text in changed.items()}
        return {
            "database.hostname": "127.0.0.1",
            "database.port": str(self.server.port),
            "database.user": "root",
            "topic.prefix": "p",
            "database.include.list": self.name,
            "poll.interval.ms": "20",
            **named,
        }

    def capture(self, **changed: str) -> BinlogCapture:
        return BinlogCapture(self.config(**changed))


class Reader:
    """Reads a connector's batches as a task does."""

    def __init__(self, config: Mapping[str, str], offset: Offset | None = None) -> None:
        self.source = MariaDbSource(config)
        self.offset = offset
        self.records: list[ConnectRecord] = []
        self.sizes: list[int] = []

    def step(self, *, stores: bool = True) -> list[ConnectRecord] | None:
        """One batch; None if there was nothing."""
        (partition,) = self.source.partitions()
        batch = self.source.read(partition, self.offset, 10_000)
        if batch is None:
            return None
        found = list(batch.records)
        if stores:
            self.records += found
            self.sizes.append(len(found))
            self.offset = batch.offset
            self.source.commit(partition, batch.offset)
        return found

    def until(self, is_so: Callable[[], bool]) -> None:
        """Read on until something holds."""
        deadline = time.monotonic() + _DEADLINE_S
        while not is_so():
            assert time.monotonic() < deadline, (self.offset, self.changes())
            self.step()

    def read(self, count: int) -> list[tuple[object, ...]]:
        """Read on until there are so many records."""
        self.until(lambda: len(self.records) >= count)
        return self.changes()

    def changes(self) -> list[tuple[object, ...]]:
        """What each record is: operation, key and new row; a tombstone has no operation."""
        return [_shown(each) for each in self.records]

    def streamed(self) -> None:
        """Read the tables, and open the stream."""
        self.until(lambda: bool(self.offset and self.offset.get("snapshot_completed")))
        self.step()

    def close(self) -> None:
        self.source.close()


def _shown(record: ConnectRecord) -> tuple[object, ...]:
    key, value = record.key.value, record.value.value
    shown_key = tuple(key.values()) if isinstance(key, dict) else None
    if not isinstance(value, dict):
        return None, shown_key, None
    after = value.get("after")
    return value.get("op"), shown_key, tuple(after.values()) if isinstance(after, dict) else None
