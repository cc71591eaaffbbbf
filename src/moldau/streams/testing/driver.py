"""Runs a topology on given records, without a cluster: event time is what the records say.

    driver = TestDriver(topology)
    driver.pipe("lines", key=None, value="to the sea", timestamp_ms=0)
    driver.run()
    assert driver.last_values("counts", value=LONG) == {"to": 1, "the": 1, "sea": 1}

Records that were piped are one micro-batch when `run` is called, as if they had come together.
What the topology writes to a topic that it reads, as by `through`, is the next one. Each topic has
one partition.
"""

import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from moldau.spark.exactly_once import SLOW_START
from moldau.spark.local import CHECKPOINTS, keep_local
from moldau.streams.compile.compiling import Query
from moldau.streams.compile.processing import as_bytes, headers_of
from moldau.streams.nodes.nodes import Source
from moldau.streams.processors import Headers
from moldau.streams.queries.values import decoder, encode, hashable
from moldau.streams.serdes import BYTES, STRING, Serde
from moldau.streams.settings import SETTINGS, starting
from moldau.streams.testing.inputs import FileInputs, InputRecord
from moldau.streams.topology import Topology

_SESSION = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.streaming.pollingDelay": "50ms",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.ui.showConsoleProgress": "false",
    **SETTINGS,
    **CHECKPOINTS,
}
_RESTARTS_MAX = 5


def local_session(**settings: str) -> SparkSession:
    """A session in this process for tests, made on first use; it starts once for all drivers."""
    builder = SparkSession.builder.master(keep_local("local[2]")).appName("moldau-test")
    return builder.config(map={**_SESSION, **settings}).getOrCreate()


@dataclass(frozen=True, slots=True)
class OutputRecord:
    """What a topology has written; keys and values as the serdes read them."""

    topic: str
    key: object
    value: object
    timestamp_ms: int
    headers: Headers = ()


class TestDriver:
    """Gives records to a topology and reads what it writes."""

    __test__ = False  # pytest takes it for a test otherwise

    def __init__(
        self,
        topology: Topology,
        *,
        application: str = "test",
        spark: SparkSession | None = None,
    ) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="moldau-streams-"))
        self._serdes = {
            str(topic): (node.key, node.value)
            for node in topology.nodes
            if isinstance(node, Source)
            for topic in node.topics
        }
        self._inputs = FileInputs(spark or local_session(), self._directory / "input")
        self._waiting: list[InputRecord] = []
        # By query and micro-batch, so that one that is repeated counts once.
        self._outputs: dict[tuple[str, int], list[Row]] = {}
        self._fed: set[tuple[str, int]] = set()
        queries = topology.compile(self._inputs, application)
        self._queries = {query.name: (query, self._start(query)) for query in queries}

    def close(self) -> None:
        """Stop the queries, and forget everything."""
        for _, started in self._queries.values():
            started.stop()
        shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # What goes in

    def pipe(
        self,
        topic: str,
        *,
        key: object = None,
        value: object,
        timestamp_ms: int,
        headers: Headers = (),
    ) -> None:
        """Add a record to the next micro-batch; serdes are those with which the topic is read."""
        if topic not in self._serdes:
            raise ValueError(f"the topology does not read {topic}, but {', '.join(self._serdes)}")
        key_serde, value_serde = self._serdes[topic]
        self._waiting.append(
            InputRecord(
                topic,
                None if key is None else encode(key_serde, key),
                None if value is None else encode(value_serde, value),
                timestamp_ms,
                headers,
            )
        )

    def run(self) -> None:
        """Process what was piped, what time has made due by it, and what comes back by topics."""
        waiting, self._waiting = self._waiting, []
        while True:
            self._inputs.write(waiting)
            for name in self._queries:
                self._process(name)
            waiting = self._coming_back()
            if not waiting:
                return

    # What comes out

    def read(self, topic: str, *, key: Serde = STRING, value: Serde = STRING) -> list[OutputRecord]:
        """All records of a topic since the start; those of one micro-batch in no order."""
        read_key, read_value = decoder(key), decoder(value)
        return [
            OutputRecord(
                topic,
                None if row["key"] is None else read_key(bytes(row["key"])),
                None if row["value"] is None else read_value(bytes(row["value"])),
                row["timestamp_ms"],
                headers_of(row["headers"]),
            )
            for row in self._rows()
            if row["topic"] == topic
        ]

    def dead_letters(self) -> list[OutputRecord]:
        """What functions failed on, in no order; `read` has what serdes could not."""
        return [
            OutputRecord(each.topic, each.key, each.value, each.timestamp_ms, each.headers)
            for each in self._inputs.read_letters()
        ]

    def last_values(
        self, topic: str, *, key: Serde = STRING, value: Serde = STRING
    ) -> dict[object, object]:
        """What a topic is as a table: the last value of each key that was not deleted."""
        found = {
            hashable(record.key): record.value for record in self.read(topic, key=key, value=value)
        }
        return {each: value for each, value in found.items() if value is not None}

    def topics(self) -> Iterable[str]:
        """The topics that were written to."""
        return sorted({row["topic"] for row in self._rows()})

    def raw(self, topic: str) -> list[OutputRecord]:
        """All records of a topic with keys and values in bytes."""
        return self.read(topic, key=BYTES, value=BYTES)

    def _rows(self) -> list[Row]:
        return [row for batch in self._outputs.values() for row in batch]

    def _coming_back(self) -> list[InputRecord]:
        """What was written since the last time to topics that the topology reads."""
        new = {each: rows for each, rows in self._outputs.items() if each not in self._fed}
        self._fed.update(new)
        return [
            InputRecord(
                row["topic"],
                as_bytes(row["key"]),
                as_bytes(row["value"]),
                row["timestamp_ms"],
                headers_of(row["headers"]),
            )
            for rows in new.values()
            for row in rows
            if row["topic"] in self._serdes
        ]

    # Queries

    def _start(self, query: Query) -> StreamingQuery:
        def collect(batch: DataFrame, batch_id: int) -> None:
            rows = query.outputs(batch).selectExpr(
                "key", "value", "topic", "headers", "unix_millis(timestamp) as timestamp_ms"
            )
            self._outputs[query.name, batch_id] = rows.collect()

        writer = query.frame.writeStream.outputMode(query.mode).foreachBatch(collect)
        checkpoint = self._directory / "checkpoint" / query.name
        with starting(query.frame.sparkSession):
            return writer.option("checkpointLocation", str(checkpoint)).start()

    def _process(self, name: str) -> None:
        """Wait for a query; Spark gives its workers ten seconds to start, so it may need more."""
        for is_last in (*[False] * _RESTARTS_MAX, True):
            query, started = self._queries[name]
            try:
                started.processAllAvailable()
            except StreamingQueryException as error:
                if is_last or SLOW_START not in str(error):
                    raise
                self._queries[name] = (query, self._start(query))
            else:
                return
