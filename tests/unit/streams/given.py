"""Inputs of topologies as batches: a batch is a stream whose first micro-batch has everything."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

from moldau.streams.compile.counters import Counters
from moldau.streams.compile.failures import LetterBox
from moldau.streams.compile.inputs import RECORD_BYTES_MAX
from moldau.streams.testing.inputs import FileLetters
from moldau.streams.topology import Topology

Headers = list[tuple[str, bytes]]
_SCHEMA = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "headers array<struct<key:string,value:binary>>"
)


class Given(NamedTuple):
    """A record of a topic."""

    topic: str
    key: str | None
    value: str | bytes | None
    millis: int = 0
    headers: Headers | None = None
    partition: int = 0


class GivenInputs:
    """Topics that have these records, and no more."""

    def __init__(
        self,
        spark: SparkSession,
        records: Sequence[Given],
        letters: str = "",
        record_bytes_max: int = RECORD_BYTES_MAX,
    ) -> None:
        self._letters = letters
        self._record_bytes_max = record_bytes_max
        rows = [
            (
                None if each.key is None else each.key.encode(),
                each.value.encode() if isinstance(each.value, str) else each.value,
                *(each.topic, each.partition, offset),
                datetime.fromtimestamp(each.millis / 1000, UTC),
                each.headers,
            )
            for offset, each in enumerate(records)
        ]
        self._frame = spark.createDataFrame(rows, _SCHEMA)

    def stream(self, topics: tuple[str, ...]) -> DataFrame:
        return self._frame.filter(self._frame.topic.isin(*topics))

    def snapshot(self, topic: str) -> DataFrame:
        return self.stream((topic,))

    @property
    def record_bytes_max(self) -> int:
        return self._record_bytes_max

    def letters(self) -> LetterBox:
        return FileLetters(self._letters)

    def counters(self) -> Counters:
        return Counters()


class Written(NamedTuple):
    """A record that a topology has written."""

    key: bytes | None
    value: bytes | None
    millis: int


def written(
    spark: SparkSession, topology: Topology, records: Sequence[Given]
) -> dict[str, list[Written]]:
    """What a topology makes of records, by topic."""
    found: dict[str, list[Written]] = {}
    for query in topology.compile(GivenInputs(spark, records), "app"):
        rows = query.outputs(query.frame).selectExpr("*", "unix_millis(timestamp) as millis")
        for row in rows.collect():
            key = None if row.key is None else bytes(row.key)
            value = None if row.value is None else bytes(row.value)
            found.setdefault(row.topic, []).append(Written(key, value, row.millis))
    return found


def texts(found: Sequence[Written]) -> list[tuple[str | None, str | None]]:
    """Keys and values as text."""
    return [
        (
            None if each.key is None else each.key.decode(),
            None if each.value is None else each.value.decode(),
        )
        for each in found
    ]
