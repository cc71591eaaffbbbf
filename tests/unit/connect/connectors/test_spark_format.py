"""Formats of Spark's are read and written with the worker's session; here another one stands in."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException

from moldau.connect.connectors.spark_format import SparkSink, SparkSource
from moldau.connect.errors import ConfigError, RetriableConnectError
from moldau.connect.worker.plugins import Plugins
from unit.connect.connectors.records import records


class Spark:
    """A session, a reader, a writer and a frame in one."""

    def __init__(self, rows: pa.Table | None = None, failure: Exception | None = None) -> None:
        self.told: list[object] = []
        self._rows = rows
        self._failure = failure

    @contextmanager
    def session(self, name: str) -> Iterator[Self]:
        self.told.append(name)
        yield self

    def createDataFrame(self, rows: pa.Table) -> Self:  # noqa: N802 - Spark's name
        self.told.append(rows.to_pylist())
        return self

    @property
    def write(self) -> Self:
        return self

    read = write

    def format(self, name: str) -> Self:
        self.told.append(name)
        return self

    def options(self, **given: str) -> Self:
        self.told.append(given)
        return self

    def mode(self, name: str) -> Self:
        return self.format(name)

    schema = mode

    def save(self) -> None:
        if self._failure is not None:
            raise self._failure

    def load(self) -> Self:
        return self

    def toArrow(self) -> pa.Table:  # noqa: N802 - Spark's name
        return self._rows


def test_they_are_found_by_their_names() -> None:
    assert Plugins().find("spark").connector is SparkSink
    assert Plugins().find("SparkSource").connector is SparkSource


def test_what_was_held_is_written_topic_by_topic() -> None:
    spark = Spark()
    config = {"name": "s", "format": "orc", "option.path": "/d/${topic}", "mode": "overwrite"}
    sink = SparkSink(config)
    sink.use_engine(spark)
    sink.write(records(0, 1), 0)
    sink.write(records(0, 1, topic="u"), 0)
    assert spark.told == []
    assert sink.settle(ends=True)
    row = [{"id": 0, "name": "n0"}]
    first, second = ["s", row, "orc", {"path": "/d/t"}], ["s", row, "orc", {"path": "/d/u"}]
    assert spark.told == [*first, "overwrite", *second, "overwrite"]


def test_what_fails_may_pass_and_is_held() -> None:
    sink = SparkSink({"name": "s", "format": "orc"})
    sink.use_engine(Spark(failure=AnalysisException("no such format")))
    sink.write(records(0, 1), 0)
    with pytest.raises(RetriableConnectError, match=r"orc: .*no such format"):
        sink.settle(ends=True)
    assert sink.held.rows == 1


def test_a_source_is_read_once() -> None:
    spark = Spark(pa.table({"id": [1, 2]}))
    config = {"name": "s", "format": "orc", "option.path": "/d", "topic": "t", "schema": "id int"}
    source = SparkSource(config)
    source.use_engine(spark)
    (partition,) = source.partitions()
    batch = source.read(partition, None, 1)
    assert batch is not None
    assert batch.offset == {"rows": 2}
    (table,) = batch.tables
    assert table["value"].to_pylist() == [{"id": 1}, {"id": 2}]
    assert spark.told == ["s", "orc", {"path": "/d"}, "id int"]
    assert source.read(partition, batch.offset, 1) is None
    empty = SparkSource(config)
    empty.use_engine(Spark(pa.table({"id": pa.array([], pa.int64())})))
    found = empty.read(partition, None, 1)
    assert found is not None
    assert (list(found.tables), found.offset) == ([], {"rows": 0})


@pytest.mark.parametrize("kind", [SparkSink, SparkSource])
def test_without_spark_the_worker_is_to_blame(kind: type[SparkSink | SparkSource]) -> None:
    with pytest.raises(ConfigError, match="needs engine=spark in the worker's settings"):
        kind({"format": "orc"}).use_engine(None)
