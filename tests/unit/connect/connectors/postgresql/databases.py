"""A database that a test fills, and a connector that reads it by hand."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import psycopg

from moldau.connect.connector import Offset
from moldau.connect.connectors.postgresql.capture import Capture
from moldau.connect.connectors.postgresql.source import PostgresSource
from postgres import parts_of
from unit.connect.connectors.capture.reading import CaptureReader

_DEADLINE_S = 60
Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Database:
    """A connection on which each statement is a transaction."""

    url: str
    name: str
    connection: psycopg.Connection[tuple[object, ...]]

    def run(self, *statements: str) -> None:
        for each in statements:
            self.connection.execute(each.encode())

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        return self.connection.execute(statement.encode()).fetchall()

    def config(self, **changed: str) -> dict[str, str]:
        """Settings of a connector, with a slot of the database's name."""
        host, _ = parts_of(self.url)
        named = {name.replace("_", "."): text for name, text in changed.items()}
        return {
            "database.hostname": host,
            "database.user": "postgres",
            "database.dbname": self.name,
            "topic.prefix": "p",
            "slot.name": f"slot_{self.name}",
            "poll.interval.ms": "10",
            **named,
        }

    def slot(self) -> tuple[object, ...]:
        """Whether it is in use, and what it has confirmed."""
        ((active, confirmed),) = self.rows(
            "SELECT active, (confirmed_flush_lsn - '0/0')::bigint FROM pg_replication_slots "
            f"WHERE slot_name = 'slot_{self.name}'"
        )
        return active, confirmed

    def drop_slot(self) -> None:
        """Once its reader has left: the server notices that a little later."""
        deadline = time.monotonic() + _DEADLINE_S
        while self.slot()[0]:
            assert time.monotonic() < deadline
        self.run(f"SELECT pg_drop_replication_slot('slot_{self.name}')")

    def lsn(self) -> int:
        """Where the log is."""
        return int(str(self.rows("SELECT (pg_current_wal_lsn() - '0/0')::bigint")[0][0]))

    def capture(self, **changed: str) -> Capture:
        return Capture(self.config(**changed))


class Reader(CaptureReader):
    """Of PostgreSQL's connector."""

    def __init__(self, config: Mapping[str, str], offset: Offset | None = None) -> None:
        super().__init__(PostgresSource, config, offset)

    def image(self, topic: str) -> dict[object, object]:
        """The table as its topic tells it: the last row of each key."""
        found: dict[object, object] = {}
        for each in self.records:
            if each.topic != topic:
                continue
            key, value = each.key.value, each.value.value
            assert isinstance(key, dict), "a table with a key"
            place = tuple(key.values())
            if not isinstance(value, dict) or value["after"] is None:
                found.pop(place, None)
            else:
                found[place] = value["after"]
        return found
