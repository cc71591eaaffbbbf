"""Two tables that go through topics into two others, row by row the same."""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from moldau.client.blocking.consumer import Consumer

_WAIT_S = 1.0


@dataclass(frozen=True, slots=True)
class Tables:
    """Files of SQLite in a directory, and the connectors between them."""

    directory: Path
    rows: int
    names: tuple[str, ...] = ("one", "two")

    # For a worker that turns small portions over quickly, so that it is killed within the work.
    WORKER: ClassVar[dict[str, str]] = {
        "key.converter": "String",
        "value.converter": "Json",
        "trigger.interval.ms": "200",
        "trigger.records.max": "400",
    }

    def fill(self) -> None:
        """Make the tables that are read."""
        with closing(sqlite3.connect(self.directory / "source.db")) as source, source:
            for table in self.names:
                source.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, word TEXT NOT NULL)")
                words = enumerate(f"{table}-{number}" for number in range(self.rows))
                source.executemany(f"INSERT INTO {table} VALUES (?, ?)", words)

    def source(self) -> dict[str, str]:
        """The settings of the connector that reads them, each by a task."""
        return {
            "connector.class": "JdbcSource",
            "connection.url": f"jdbc:sqlite:{self.directory}/source.db",
            "mode": "incrementing",
            "topic.prefix": "t-",
            "batch.max.rows": "20",
            "poll.interval.ms": "200",
            "tasks.max": "2",
        }

    def sink(self) -> dict[str, str]:
        """The settings of the connector that writes what is in the topics, rows as they come."""
        return {
            "connector.class": "JdbcSink",
            "connection.url": f"jdbc:sqlite:{self.directory}/sink.db",
            "topics": ",".join(f"t-{table}" for table in self.names),
            "auto.create": "true",
            "tasks.max": "2",
        }

    def expected(self) -> dict[str, list[str]]:
        """The words of each table, in order."""
        return {
            table: sorted(f"{table}-{number}" for number in range(self.rows))
            for table in self.names
        }

    def written(self) -> dict[str, list[str]]:
        """The words that the sink has written, in order."""
        found = {}
        with closing(sqlite3.connect(self.directory / "sink.db")) as sink:
            for table in self.names:
                try:
                    words = sink.execute(f'SELECT word FROM "t-{table}"').fetchall()
                except sqlite3.OperationalError:
                    words = []  # it has not made the table yet
                found[table] = sorted(str(word) for (word,) in words)
        return found

    def count(self) -> int:
        """How many rows the sink has written."""
        return sum(map(len, self.written().values()))

    @property
    def count_wanted(self) -> int:
        """How many it has to write."""
        return len(self.names) * self.rows

    def in_topics(self, servers: str) -> dict[str, list[str]]:
        """The committed words of each topic, in order; waits until there are enough."""
        found = {}
        for table in self.names:
            words: list[str] = []
            with Consumer[bytes, bytes](
                bootstrap_servers=servers,
                auto_offset_reset="earliest",
                isolation_level="read_committed",
            ) as consumer:
                consumer.assign(consumer.partitions_of(f"t-{table}"))
                while len(words) < self.rows:
                    records = consumer.poll(_WAIT_S)
                    words += [json.loads(each.value or b"")["payload"]["word"] for each in records]
            found[table] = sorted(words)
        return found
