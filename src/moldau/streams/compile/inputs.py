"""What a topology reads: topics of a cluster, or whatever a test gives it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

COLUMNS = "key, value, topic, partition, offset, timestamp, headers"


class Inputs(Protocol):
    """Where the frames of topics come from, with the columns of Spark's Kafka source."""

    def stream(self, topics: tuple[str, ...]) -> DataFrame:
        """Topics as they grow, as a streaming frame."""

    def snapshot(self, topic: str) -> DataFrame:
        """All records that a topic has now, as a batch."""


@dataclass(frozen=True, slots=True)
class KafkaInputs:
    """Topics of a cluster; `options` are those of the source, with `kafka.bootstrap.servers`."""

    spark: SparkSession
    options: Mapping[str, str]

    def stream(self, topics: tuple[str, ...]) -> DataFrame:
        reader = self.spark.readStream.format("moldau").option("startingOffsets", "earliest")
        return reader.options(**self._options(topics)).load()

    def snapshot(self, topic: str) -> DataFrame:
        return self.spark.read.format("moldau").options(**self._options((topic,))).load()

    def _options(self, topics: tuple[str, ...]) -> dict[str, str]:
        return {
            **self.options,
            "subscribe": ",".join(topics),
            "columns": COLUMNS,
        }
