"""A sink's query, its batches and its end; Spark is stood in for by what it would call."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pytest
from pyspark.sql import Row

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.connect.connector import Sink
from moldau.connect.errors import ConfigError, ConnectError, DataError
from moldau.connect.spark.sink_query import SinkQuery
from moldau.connect.worker.assembly import TaskSurroundings, assemble
from moldau.connect.worker.plugins import Plugin
from moldau.connect.worker.settings import WorkerSettings
from moldau.testing.broker import EmbeddedBroker
from unit.connect.spark.test_sink_tasks import TEXT, rows

SPARK = WorkerSettings({"engine": "spark"})

Write = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class Refusing(Sink):
    """Refuses `bad`."""

    def write(self, table: pa.Table, batch_id: int) -> None:
        if "bad" in table.column("value").to_pylist():
            raise DataError("bad is not stored")


class Frame:
    """The rows of a micro-batch."""

    def __init__(self, *batches: pa.RecordBatch, failure: Exception | None = None) -> None:
        self._batches = batches
        self._failure = failure
        self._rows: list[Row] = []

    def mapInArrow(self, write: Write, _schema: str) -> Self:  # noqa: N802 - Spark's name
        reports = write(iter(self._batches))
        self._rows = [Row(**row) for each in reports for row in each.to_pylist()]
        return self

    def collect(self) -> list[Row]:
        if self._failure is not None:
            raise self._failure
        return self._rows


class Spark:
    """A session, a reader, a frame, a writer and a query in one: it keeps what it is told."""

    def __init__(self) -> None:
        self.told: dict[str, object] = {}
        self.write: Callable[[Frame, int], None] = lambda *_: None
        self.isActive = False
        self.stops = 0
        self.ended_by: Exception | None = None

    @property
    def readStream(self) -> Self:  # noqa: N802 - Spark's name
        return self

    writeStream = readStream  # noqa: N815 - Spark's name

    def format(self, name: str) -> Self:
        assert name == "moldau"
        return self

    def options(self, **given: str) -> Self:
        self.told |= given
        return self

    def option(self, name: str, value: str) -> Self:
        return self.options(**{name: value})

    def queryName(self, name: str) -> Self:  # noqa: N802 - Spark's name
        return self.options(name=name)

    def trigger(self, **given: str) -> Self:
        return self.options(**given)

    def load(self) -> Self:
        return self

    def foreachBatch(self, write: Callable[[object, int], None]) -> Self:  # noqa: N802 - Spark's
        self.write = write
        return self

    def start(self, *arguments: object) -> Self:
        if arguments:
            name, begin = arguments
            assert name == "c"
            return begin(self)  # type: ignore[operator,no-any-return]
        self.isActive = True
        return self

    def exception(self) -> Exception | None:
        return self.ended_by

    def stop(self) -> None:
        self.stops += 1
        self.isActive = False


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0"}


def sink(kafka: EmbeddedBroker, spark: Spark, used: list[str], **config: str) -> SinkQuery:
    settings = WorkerSettings(
        {"bootstrap.servers": kafka.bootstrap_servers, "engine": "spark", **TEXT}
    )
    plugin = Plugin("a.Refusing", f"{__name__}:Refusing")
    given = {"topics": "t", "name": "c", **config}
    assembly = assemble("c", plugin, given, SPARK)
    around = TaskSurroundings(settings, lambda *_: None, used.append)
    return SinkQuery(spark, assembly, around)  # type: ignore[arg-type]


def committed(kafka: EmbeddedBroker) -> dict[int, int]:
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        found = admin.list_group_offsets("connect-c")["connect-c"]
    return {each.partition: at.offset for each, at in found.items()}


def make_topic(kafka: EmbeddedBroker) -> None:
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("t", partitions=2)]).check()


def test_what_a_batch_has_written_is_committed_before_the_next(kafka: EmbeddedBroker) -> None:
    make_topic(kafka)
    spark, used = Spark(), list[str]()
    work = sink(kafka, spark, used)
    assert not spark.told, "a sink that is paused from the start needs no query"
    assert not work.step()
    assert spark.told["subscribe"] == "t"
    assert spark.told["processingTime"] == "2000 milliseconds"
    spark.write(Frame(rows(b"a", b"b"), rows(b"c", partition=1)), 0)
    assert committed(kafka) == {0: 2, 1: 1}
    assert used == ["t"]
    assert [work.step(), work.step()] == [True, False]
    work.close()
    assert spark.stops == 1


def test_a_sink_at_rest_goes_on_with_a_checkpoint_of_its_own(kafka: EmbeddedBroker) -> None:
    make_topic(kafka)
    spark = Spark()
    work = sink(kafka, spark, [])
    places: list[Path] = []
    for _ in range(2):
        assert not work.step()
        address = urlsplit(str(spark.told["checkpointLocation"]))
        assert address.scheme == "file"
        places.append(Path(unquote(address.path)).parent)
        assert places[-1].is_dir()
        work.rest()
        assert not places[-1].exists()
    assert places[0] != places[1]
    assert spark.stops == 2


def test_a_batch_that_is_under_way_is_waited_for_and_no_other_begins(
    kafka: EmbeddedBroker,
) -> None:
    make_topic(kafka)
    spark = Spark()
    work = sink(kafka, spark, [])
    work.step()
    begun, may_end = threading.Event(), threading.Event()

    class Slow(Frame):
        def collect(self) -> list[Row]:
            begun.set()
            assert may_end.wait(30)
            return super().collect()

    writing = threading.Thread(target=spark.write, args=(Slow(rows(b"a")), 0))
    writing.start()
    assert begun.wait(30)
    resting = threading.Thread(target=work.rest)
    resting.start()
    assert spark.stops == 0
    may_end.set()
    resting.join(30)
    writing.join(30)
    assert committed(kafka) == {0: 1}
    assert spark.stops == 1
    with pytest.raises(Exception, match="c is being stopped"):
        spark.write(Frame(rows(b"b", first=1)), 1)
    assert committed(kafka) == {0: 1}


def test_a_record_that_is_refused_ends_the_query_and_names_itself(kafka: EmbeddedBroker) -> None:
    make_topic(kafka)
    spark = Spark()
    work = sink(kafka, spark, [])
    work.step()
    with pytest.raises(DataError):
        spark.write(Frame(rows(b"a"), rows(b"bad", first=1)), 0)
    assert committed(kafka) == {0: 1}, "what was written before is not to be written again"
    with pytest.raises(DataError, match=r"bad is not stored .* t-0 at offset 1"):
        work.step()
    work.close()


def test_what_ends_the_query_is_told_in_one_line(kafka: EmbeddedBroker) -> None:
    make_topic(kafka)
    spark = Spark()
    work = sink(kafka, spark, [])
    work.step()
    spark.isActive, spark.ended_by = False, Exception("[STREAM_FAILED] a.OddException: the cause")
    with pytest.raises(ConnectError, match=r"the cause$"):
        work.step()
    work.close()
    work.step()
    with pytest.raises(ConnectionRefusedError):
        spark.write(Frame(failure=ConnectionRefusedError()), 0)
    with pytest.raises(ConnectError, match=r"the JVM of this process, has ended$"):
        work.step()
    work.close()


def test_topics_that_are_not_there_yet_are_waited_for(kafka: EmbeddedBroker) -> None:
    spark = Spark()
    work = sink(kafka, spark, [])
    work.step()
    assert spark.told["subscribePattern"] == "t"
    work.close()


def test_settings_that_no_client_has_are_errors_of_the_settings(kafka: EmbeddedBroker) -> None:
    work = sink(kafka, Spark(), [], **{"consumer.override.fetch.min.byte": "1"})
    with pytest.raises(ConfigError, match=r"did you mean kafka.fetch.min.bytes"):
        work.step()
    work.close()
