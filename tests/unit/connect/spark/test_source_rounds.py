"""Rounds go on where the offsets topic says; Spark is stood in for by a plain loop."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import connect
from types import SimpleNamespace

import pytest

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.connect.connector import Offset, SourcePartition
from moldau.connect.errors import ConnectError
from moldau.connect.spark.source_rounds import SourceRounds, rounds_of
from moldau.connect.spark.source_tasks import RoundReport, Share
from moldau.connect.storage.records import offset_key
from moldau.connect.worker.assembly import TaskSurroundings, assemble
from moldau.connect.worker.plugins import Plugins
from moldau.connect.worker.settings import WorkerSettings
from moldau.connect.worker.source_work import transactional_producer
from moldau.errors import KafkaError
from moldau.testing.broker import EmbeddedBroker

SPARK = WorkerSettings({"engine": "spark"})

Read = Callable[[Share], RoundReport]


class Jobs:
    """What a session's context does with a job."""

    def __init__(self) -> None:
        self.shares: list[Share] = []
        self.breaks = False

    @contextmanager
    def session(self, name: str) -> Iterator[object]:
        assert name == "tables"
        yield SimpleNamespace(sparkContext=self)

    def parallelize(self, shares: Sequence[Share], count: int) -> "Jobs":
        assert count == len(shares)
        self.shares = list(shares)
        return self

    def map(self, read: Read) -> SimpleNamespace:
        if self.breaks:
            raise ConnectionRefusedError
        return SimpleNamespace(collect=lambda: [read(each) for each in self.shares])


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "db"
    with connect(path) as opened:
        for table in ("one", "two"):
            opened.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, word TEXT)")
            opened.execute(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
    return path


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0"}


class Told:
    """What a worker is told."""

    def __init__(self) -> None:
        self.offsets: dict[str, Offset] = {}
        self.topics: list[str] = []

    def stored(self, partition: SourcePartition, offset: Offset) -> None:
        self.offsets[str(partition["table"])] = offset


def rounds(kafka: EmbeddedBroker, database: Path, told: Told, jobs: Jobs) -> SourceRounds:
    settings = WorkerSettings(
        {"bootstrap.servers": kafka.bootstrap_servers, "engine": "spark", "group.id": "w"}
    )
    config = {
        "connection.url": f"jdbc:sqlite:{database}",
        "mode": "incrementing",
        "topic.prefix": "t-",
        "tasks.max": "2",
        "poll.interval.ms": "7000",
    }
    assembly = assemble("tables", Plugins().find("JdbcSource"), config, SPARK)
    around = TaskSurroundings(settings, told.stored, told.topics.append)
    return rounds_of(jobs, assembly, around)  # type: ignore[arg-type]


def count(kafka: EmbeddedBroker, topic: str) -> int:
    with Consumer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as consumer:
        places = consumer.partitions_of(topic)
        consumer.assign(dict.fromkeys(places, 0))
        return len(consumer.poll(5))


def test_each_table_is_a_task_and_the_next_round_goes_on(
    kafka: EmbeddedBroker, database: Path
) -> None:
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("connect-offsets", partitions=2)]).check()
    told, jobs = Told(), Jobs()
    work = rounds(kafka, database, told, jobs)
    assert work.idle_s() == 7
    assert work.step()
    assert told.offsets == {"one": {"incrementing": 2}, "two": {"incrementing": 2}}
    assert sorted(told.topics) == ["t-one", "t-two"]
    assert not work.step()
    assert [[offset for _, offset in each.places] for each in jobs.shares] == [
        [{"incrementing": 2}],
        [{"incrementing": 2}],
    ]
    work.close()
    # Whoever begins anew asks the topic, whatever the worker remembers.
    again = Told()
    rounds(kafka, database, again, jobs)
    assert again.offsets == told.offsets
    assert count(kafka, "t-one") == count(kafka, "t-two") == 2


def test_what_was_committed_behind_a_transaction_that_is_open_is_waited_for(
    kafka: EmbeddedBroker, database: Path
) -> None:
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("connect-offsets", partitions=1)]).check()
    settings = {"bootstrap.servers": kafka.bootstrap_servers}
    other: Producer[bytes, bytes] = Producer(
        {**settings, "transactional.id": "other", "transaction.timeout.ms": "1000"}
    )
    other.begin_transaction()
    other.send("connect-offsets", b"{}", key=offset_key("other", {"p": 1}))
    other.flush()
    key = offset_key("tables", {"protocol": "1", "table": "one"})
    with Producer[bytes, bytes](settings) as producer:
        producer.send("connect-offsets", b'{"incrementing":1}', key=key)
    told = Told()
    rounds(kafka, database, told, Jobs())
    assert told.offsets == {"one": {"incrementing": 1}}
    with pytest.raises(KafkaError):
        other.close()


def test_a_task_that_still_writes_is_ended_first(kafka: EmbeddedBroker, database: Path) -> None:
    settings = WorkerSettings({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "w"})
    late = transactional_producer(settings, "tables", {}, 1)
    late.begin_transaction()
    late.send("connect-offsets", b"{}", key=offset_key("tables", {"late": 1}))
    late.flush()
    told = Told()
    rounds(kafka, database, told, Jobs())
    assert told.offsets == {}
    with pytest.raises(KafkaError):
        late.commit_transaction()
    late.close()


def test_what_spark_raises_is_one_line(kafka: EmbeddedBroker, database: Path) -> None:
    jobs = Jobs()
    work = rounds(kafka, database, Told(), jobs)
    jobs.breaks = True
    with pytest.raises(ConnectError, match=r"^Spark's driver, the JVM of this process, has ended$"):
        work.step()
