"""What a topology reads: topics of a cluster, or whatever a test gives it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from moldau.spark.client_settings import CLIENT_PREFIX
from moldau.streams.compile.counters import Counters
from moldau.streams.compile.failures import KafkaLetters, LetterBox

SCHEMA = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "headers array<struct<key: string, value: binary>>"
)
RECORD_BYTES_MAX = 1 << 20
"""What producers send at most unless `max.request.size` is set."""
COLUMNS = "key, value, topic, partition, offset, timestamp, headers"


class Inputs(Protocol):
    """Where the frames of topics come from, with the columns of Spark's Kafka source."""

    @property
    def record_bytes_max(self) -> int:
        """How large a record may be that is written."""

    def stream(self, topics: tuple[str, ...]) -> DataFrame:
        """Topics as they grow, as a streaming frame."""

    def snapshot(self, topic: str) -> DataFrame:
        """All records that a topic has now, as a batch."""

    def letters(self) -> LetterBox:
        """Where workers put records that functions fail on."""

    def counters(self) -> Counters:
        """Counters for a query."""


@dataclass(frozen=True, slots=True)
class KafkaInputs:
    """Topics of a cluster; `options` are those of the source, with `kafka.bootstrap.servers`.

    A stream without a checkpoint begins where `starting` says, by topic and partition, else with
    the earliest records.
    """

    spark: SparkSession
    options: Mapping[str, str] = field(repr=False)
    starting: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    sink: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Options of the sink, by which dead letters are written."""

    def stream(self, topics: tuple[str, ...]) -> DataFrame:
        said = {topic: self.starting[topic] for topic in topics if topic in self.starting}
        begin = json.dumps(said) if len(said) == len(topics) else "earliest"
        reader = self.spark.readStream.format("moldau").option("startingOffsets", begin)
        return reader.options(**self._options(topics)).load()

    def snapshot(self, topic: str) -> DataFrame:
        return self.spark.read.format("moldau").options(**self._options((topic,))).load()

    @property
    def record_bytes_max(self) -> int:
        return int(self.sink.get(f"{CLIENT_PREFIX}max.request.size", RECORD_BYTES_MAX))

    def letters(self) -> KafkaLetters:
        client = {name.removeprefix(CLIENT_PREFIX): value for name, value in self.sink.items()}
        return KafkaLetters(tuple(sorted(client.items())))

    def counters(self) -> Counters:
        return Counters.of_cluster(self.spark.sparkContext)

    def _options(self, topics: tuple[str, ...]) -> dict[str, str]:
        is_said = any(name.lower() == "minpartitions" for name in self.options)
        # More tasks than cores cost more and gain nothing.
        most = {"maxPartitions": str(self.spark.sparkContext.defaultParallelism)}
        return {
            **({} if is_said else most),
            **self.options,
            "subscribe": ",".join(topics),
            "columns": COLUMNS,
        }


@dataclass(frozen=True, slots=True)
class NoRecords:
    """Topics without records, to see what a topology would be."""

    spark: SparkSession
    record_bytes_max: int = RECORD_BYTES_MAX

    def stream(self, topics: tuple[str, ...]) -> DataFrame:  # noqa: ARG002 - all are empty
        return self.spark.createDataFrame([], SCHEMA)

    def snapshot(self, topic: str) -> DataFrame:
        return self.stream((topic,))

    def letters(self) -> KafkaLetters:
        return KafkaLetters(())

    def counters(self) -> Counters:
        return Counters()
