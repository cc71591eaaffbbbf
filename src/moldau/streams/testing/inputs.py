"""Topics of a test driver: one Parquet file for each micro-batch, of all topics together."""

import hashlib
import os
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from moldau.streams.compile.counters import Counters
from moldau.streams.compile.inputs import RECORD_BYTES_MAX, SCHEMA
from moldau.streams.processors import Headers

_SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
        (
            "headers",
            pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
        ),
    ]
)


class InputRecord(NamedTuple):
    topic: str
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class FileLetters:
    """Dead letters as files, one for each: workers are other processes."""

    directory: str

    def put(
        self, topic: str, key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes]]
    ) -> None:
        letter = InputRecord(topic, key, value, 0, tuple(headers))
        # What is repeated has the same name, so it counts once.
        name = hashlib.sha256(repr(letter).encode()).hexdigest()
        Path(self.directory, name).write_bytes(pickle.dumps(letter))


class FileInputs:
    """Frames of what was written so far; offsets count the records of all topics."""

    def __init__(self, spark: SparkSession, directory: Path) -> None:
        directory.mkdir()
        self._letters = directory.with_name("letters")
        self._letters.mkdir()
        self._spark = spark
        self._directory = directory
        self._file_count = 0
        self._record_count = 0

    def write(self, records: Sequence[InputRecord]) -> None:
        """Make these the next micro-batch."""
        rows = [
            {
                "key": record.key,
                "value": record.value,
                "topic": record.topic,
                "partition": 0,
                "offset": self._record_count + index,
                "timestamp": record.timestamp_ms * 1000,
                "headers": [{"key": name, "value": data} for name, data in record.headers] or None,
            }
            for index, record in enumerate(records)
        ]
        self._record_count += len(rows)
        self._file_count += 1
        # Spark passes over names that begin with a dot, and takes files by their age.
        aside = self._directory / f".{self._file_count}"
        pq.write_table(pa.Table.from_pylist(rows, _SCHEMA), aside)
        os.utime(aside, (self._file_count, self._file_count))
        aside.rename(self._directory / f"{self._file_count:06}.parquet")

    def stream(self, topics: tuple[str, ...]) -> DataFrame:
        """Topics as they are written."""
        reader = self._spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", "1")
        return reader.parquet(str(self._directory)).filter(f.col("topic").isin(*topics))

    @property
    def record_bytes_max(self) -> int:
        return RECORD_BYTES_MAX

    def letters(self) -> "FileLetters":
        """Where functions' dead letters go; `read_letters` has them."""
        return FileLetters(str(self._letters))

    def counters(self) -> Counters:
        return Counters.of_cluster(self._spark.sparkContext)

    def read_letters(self) -> list[InputRecord]:
        """All dead letters of functions so far."""
        files = sorted(self._letters.iterdir())
        return [pickle.loads(file.read_bytes()) for file in files]  # noqa: S301 - our own

    def snapshot(self, topic: str) -> DataFrame:
        """What a topic has now."""
        frame = self._spark.read.schema(SCHEMA).parquet(str(self._directory))
        return frame.filter(f.col("topic") == topic)
