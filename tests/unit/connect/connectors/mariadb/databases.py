"""A database that a test fills, and a connector that reads it by hand."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from pymysql.connections import Connection
from pymysql.cursors import Cursor

from mariadb import MariaDb
from moldau.connect.connector import Offset
from moldau.connect.connectors.mariadb.capture import BinlogCapture
from moldau.connect.connectors.mariadb.source import MariaDbSource
from unit.connect.connectors.capture.reading import CaptureReader

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
        """Of the transactions that the server has made."""
        name = "gtid_binlog_pos" if self.server.is_mariadb else "gtid_executed"
        return str(self.rows(f"SELECT @@{name}")[0][0]).replace("\n", "")

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


class Reader(CaptureReader):
    """Of MariaDB's connector."""

    def __init__(
        self,
        config: Mapping[str, str],
        offset: Offset | None = None,
        kind: type[MariaDbSource] = MariaDbSource,
    ) -> None:
        super().__init__(kind, config, offset)

    def streamed(self) -> None:
        """Read the tables, and open the stream."""
        self.until(lambda: bool(self.offset and self.offset.get("snapshot_completed")))
        self.step()
