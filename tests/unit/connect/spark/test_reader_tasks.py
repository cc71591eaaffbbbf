"""Readers that share a source's work go on where they have stored; Spark is a plain loop here."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.connect.connector import Offset, Source, SourceBatch, SourcePartition, reader_partition
from moldau.connect.data.arrow import table_of
from moldau.connect.data.schema import STRING
from moldau.connect.errors import ConnectError, DataError
from moldau.connect.spark import reader_tasks, source_tasks
from moldau.connect.spark.reader_tasks import ReaderRounds, ReaderTasks
from moldau.connect.spark.source_tasks import RoundReport, Share, SourcePlan, read_round
from moldau.connect.storage.records import compact, offset_key
from moldau.connect.worker.assembly import TaskSurroundings, assemble
from moldau.connect.worker.plugins import Plugins
from moldau.connect.worker.settings import WorkerSettings
from moldau.connect.worker.source_work import transactional_producer
from moldau.errors import KafkaError
from moldau.testing.broker import EmbeddedBroker

NAME, LAST = "tables", 4
PARTITIONS = [reader_partition({"p": 1}, number) for number in (1, 2)]


class Numbers(Source):
    """Each reader gives its own numbers up to the last one."""

    runs_anywhere = True
    poll_interval_s = 0.0

    def partitions(self) -> Sequence[SourcePartition]:
        return []

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        assert start is not None, "stored before"
        number = int(str(start["n"]))
        if number == LAST:
            return None
        if self.config.get("bad"):
            raise DataError("bad")
        table = table_of(None, STRING, [{"value": f"{partition['reader']}.{number}"}])
        return SourceBatch([table], {"n": number + 1})


class Jobs:
    """What a session's context does with a job; it may lose the result, as a lost executor does."""

    defaultParallelism = 40  # noqa: N815 - Spark's name

    def __init__(self) -> None:
        self.shares: list[Share] = []
        self.losses = 0

    @contextmanager
    def session(self, name: str) -> Iterator[object]:
        assert name == NAME
        yield SimpleNamespace(sparkContext=self)

    def parallelize(self, shares: Sequence[Share], count: int) -> "Jobs":
        assert count == len(shares)
        self.shares = list(shares)
        return self

    def map(self, read: Callable[[Share], RoundReport]) -> SimpleNamespace:
        def collect() -> list[RoundReport]:
            reports = [read(each) for each in self.shares]
            if self.losses:
                self.losses -= 1
                raise ConnectionRefusedError
            return reports

        return SimpleNamespace(collect=collect)


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0"}


@pytest.fixture
def settings(kafka: EmbeddedBroker) -> WorkerSettings:
    """Of a worker whose offsets topic has where the readers begin."""
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("connect-offsets", partitions=2)]).check()
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for each in PARTITIONS:
            key = offset_key(NAME, each)
            producer.send("connect-offsets", compact({"n": 0}), key=key)
    strings = {"key.converter": "String", "value.converter": "String"}
    address = {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "w"}
    return WorkerSettings({**address, **strings, "engine": "spark"})


def tasks(settings: WorkerSettings, jobs: Jobs) -> ReaderTasks:
    assembly = assemble(NAME, Plugins().find("FileStreamSource"), {"file": "f", "topic": "t"})
    around = TaskSurroundings(settings, _not_told, lambda _topic: None)
    return ReaderTasks(jobs, assembly, around)  # type: ignore[arg-type]


def _not_told(partition: SourcePartition, offset: Offset) -> None:
    raise AssertionError("offsets of readers are nobody's matter", partition, offset)


def rounds(settings: WorkerSettings, jobs: Jobs, **config: str) -> ReaderRounds:
    return tasks(settings, jobs).begin(Numbers, {"topic": "numbers", **config}, PARTITIONS)


def values(kafka: EmbeddedBroker) -> list[str]:
    with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    ) as consumer:
        consumer.assign([("numbers", 0)])
        found: list[str] = []
        while len(found) < 2 * LAST:
            found += [(each.value or b"").decode() for each in consumer.poll(1)]
        found += [(each.value or b"").decode() for each in consumer.poll(0.2)]
    return sorted(found)


ALL = [f"{reader}.{number}" for reader in (1, 2) for number in range(LAST)]


def test_a_round_that_is_lost_after_it_was_stored_repeats_nothing(
    kafka: EmbeddedBroker, settings: WorkerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_tasks, "ROUND_S", 0.0)
    jobs = Jobs()
    work = rounds(settings, jobs)
    assert work.step()
    jobs.losses = 2
    steps = [work.step() for _ in range(5)]
    assert steps == [True, True, True, False, False]
    work.close()
    assert values(kafka) == ALL


def test_a_late_task_that_spark_believed_to_be_gone_repeats_nothing(
    kafka: EmbeddedBroker, settings: WorkerSettings
) -> None:
    plan = SourcePlan(NAME, Numbers, {"topic": "numbers"}, settings, looks_up=True)
    shares = [Share(number, [(each, {"n": 0})]) for number, each in enumerate(PARTITIONS, 1)]
    for _ in range(2):  # the second one was told what was true before the first
        for share in shares:
            assert read_round(share, plan).failure is None
    assert values(kafka) == ALL


def test_readers_that_fail_again_and_again_fail_the_source(
    settings: WorkerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_tasks, "_ATTEMPTS", 2)
    jobs = Jobs()
    jobs.losses = 3
    work = rounds(settings, jobs)
    assert work.step()
    with pytest.raises(ConnectError, match="the JVM of this process, has ended"):
        work.step()


def test_a_row_that_cannot_be_converted_is_not_tried_again(settings: WorkerSettings) -> None:
    with pytest.raises(DataError, match="bad"):
        rounds(settings, Jobs(), bad="true").step()


def test_a_reader_that_still_writes_is_ended_first(
    kafka: EmbeddedBroker, settings: WorkerSettings
) -> None:
    late = transactional_producer(settings, NAME, {}, 2)
    late.begin_transaction()
    late.send("numbers", b"late")
    late.flush()
    work = rounds(settings, Jobs())
    while work.step():
        pass
    with pytest.raises(KafkaError):
        late.commit_transaction()
    late.close()
    assert values(kafka) == ALL


def test_there_are_as_many_as_the_session_runs_but_not_too_many(settings: WorkerSettings) -> None:
    jobs = Jobs()
    assert tasks(settings, jobs).count() == reader_tasks.COUNT_MAX
    jobs.defaultParallelism = 2
    assert tasks(settings, jobs).count() == 2
