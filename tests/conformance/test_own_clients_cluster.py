"""Our clients and a cluster whose brokers are killed under load: nothing lost, nothing doubled.

A producer writes numbers, a member of a group copies them in transactions, each in both forms,
while leaders and coordinators are killed and come back.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pytest

from moldau.broker.topics.internal import CONSUMER_OFFSETS, TRANSACTION_STATE
from moldau.client import blocking
from moldau.client.consumer.consumer import Consumer
from moldau.client.producer.producer import Producer
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.replication.read_replica import RACK_AWARE
from moldau.testing.cluster import RunningCluster, running_cluster

SOURCE, TARGET, GROUP = "from", "to", "copiers"
PARTITIONS = 2
_WAIT_S = 120.0
_PORTION = 200
SETTINGS = {
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "replica.fetch.wait.max.ms": "50",
    "group.initial.rebalance.delay.ms": "0",
    "replica.selector.class": RACK_AWARE,
}


@pytest.fixture
def cluster() -> Iterator[RunningCluster]:
    with running_cluster(
        3, SETTINGS, settings_of=lambda broker: {"broker.rack": f"rack-{broker}"}
    ) as made:
        for topic in (SOURCE, TARGET):
            made.create_topic(topic, partitions=PARTITIONS)
        yield made


class Load:
    """What the clients have done so far, and whether they shall go on.

    First the writer ends, then the copier: a transaction whose end is not known may have been
    committed, so only the group's offsets say when all is copied.
    """

    def __init__(self, cluster: RunningCluster) -> None:
        self.servers = cluster.bootstrap_servers
        self.is_written = threading.Event()
        self.is_copied = threading.Event()
        self._changed = threading.Condition()
        self._counts: Counter[str] = Counter()
        self._failures: list[BaseException] = []

    def add(self, what: str, count: int = 1) -> None:
        with self._changed:
            self._counts[what] += count
            self._changed.notify_all()

    def __getitem__(self, what: str) -> int:
        return self._counts[what]

    def wait_for_more(self, what: str, count: int) -> None:
        """Return once so much more was done."""
        self.wait_for(what, self._counts[what] + count)

    def wait_for(self, what: str, count: int) -> None:
        with self._changed:
            is_done = self._changed.wait_for(
                lambda: self._counts[what] >= count or bool(self._failures), _WAIT_S
            )
        assert not self._failures, self._failures
        assert is_done, f"only {self._counts[what]} of {count} were {what}"

    @contextmanager
    def running(
        self, write: Callable[["Load"], None], copy: Callable[["Load"], None]
    ) -> Iterator[None]:
        writer = threading.Thread(target=self._run, args=[write], daemon=True)
        copier = threading.Thread(target=self._run, args=[copy], daemon=True)
        writer.start()
        copier.start()
        try:
            yield
            self.is_written.set()
            writer.join(_WAIT_S)
            self._wait_until_copied()
        finally:
            self.is_written.set()
            self.is_copied.set()
            copier.join(_WAIT_S)
        assert not self._failures, self._failures

    def _wait_until_copied(self) -> None:
        deadline_s = time.monotonic() + _WAIT_S
        partitions = [TopicPartition(SOURCE, each) for each in range(PARTITIONS)]
        with blocking.Consumer[bytes, bytes](
            bootstrap_servers=self.servers, group_id=GROUP
        ) as consumer:
            while sum(consumer.committed(partitions).values()) < self["sent"]:
                assert not self._failures, self._failures
                assert time.monotonic() < deadline_s, "not all was copied"

    def _run(self, work: Callable[["Load"], object]) -> None:
        try:
            work(self)
        except BaseException as error:
            with self._changed:
                self._failures.append(error)
                self._changed.notify_all()
            raise


def producer_settings(load: Load, more: Mapping[str, object] = {}) -> dict[str, object]:
    return {"bootstrap.servers": load.servers, "retry.backoff.ms": 20, "batch.size": 500, **more}


def copier_settings(load: Load) -> tuple[dict[str, object], dict[str, object]]:
    consumer: dict[str, object] = {
        "bootstrap.servers": load.servers,
        "group.id": GROUP,
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",
        "heartbeat.interval.ms": 100,
        "retry.backoff.ms": 20,
    }
    return consumer, producer_settings(load, {"transactional.id": "copier"})


def write_blocking(load: Load) -> None:
    with blocking.Producer[bytes, bytes](producer_settings(load)) as producer:
        while not load.is_written.is_set():
            number = load["sent"]
            receipt = producer.send(SOURCE, b"%d" % number, partition=number % PARTITIONS)
            load.add("sent")
            if number % 20 == 0:
                receipt.result(_WAIT_S)


def write_async(load: Load) -> None:
    async def write() -> None:
        async with Producer[bytes, bytes](producer_settings(load)) as producer:
            while not load.is_written.is_set():
                number = load["sent"]
                receipt = await producer.send(SOURCE, b"%d" % number, partition=number % PARTITIONS)
                load.add("sent")
                if number % 20 == 0:
                    await receipt

    asyncio.run(write())


def copy_blocking(load: Load) -> None:
    for_consumer, for_producer = copier_settings(load)
    with (
        blocking.Consumer[bytes, bytes](for_consumer) as consumer,
        blocking.Producer[bytes, bytes](for_producer) as producer,
    ):
        consumer.subscribe([SOURCE])
        while not load.is_copied.is_set():
            records = consumer.poll(0.1)
            if not records:
                continue
            try:
                with producer.transaction():
                    for record in records:
                        producer.send(TARGET, record.value, partition=record.partition)
                    ends = {each.topic_partition: each.offset + 1 for each in records}
                    producer.send_offsets_to_transaction(ends, consumer.group_metadata())
            except KafkaError:
                consumer.seek_to_committed()
            else:
                load.add("copied", len(records))


def copy_async(load: Load) -> None:
    for_consumer, for_producer = copier_settings(load)

    async def copy() -> None:
        consumer = Consumer[bytes, bytes](for_consumer)
        async with consumer, Producer[bytes, bytes](for_producer) as producer:
            consumer.subscribe([SOURCE])
            while not load.is_copied.is_set():
                records = await consumer.poll(0.1)
                if not records:
                    continue
                try:
                    async with producer.transaction():
                        for record in records:
                            await producer.send(TARGET, record.value, partition=record.partition)
                        ends = {each.topic_partition: each.offset + 1 for each in records}
                        await producer.send_offsets_to_transaction(ends, consumer.group_metadata())
                except KafkaError:
                    consumer.seek_to_committed()
                else:
                    load.add("copied", len(records))

    asyncio.run(copy())


@pytest.mark.parametrize(
    ("write", "copy"),
    [(write_blocking, copy_async), (write_async, copy_blocking)],
    ids=["blocking-to-asyncio", "asyncio-to-blocking"],
)
def test_killed_leaders_and_coordinators_lose_and_double_nothing(
    cluster: RunningCluster, write: Callable[[Load], None], copy: Callable[[Load], None]
) -> None:
    load = Load(cluster)
    with load.running(write, copy):
        load.wait_for("copied", _PORTION)
        for topic in (SOURCE, CONSUMER_OFFSETS, TRANSACTION_STATE):
            leader = cluster.wait_for_leader(topic)
            cluster[leader].kill()
            cluster.wait_for_leader(topic, other_than=leader)
            load.wait_for_more("copied", _PORTION)
            cluster[leader].start()
            cluster.wait_for_in_sync(topic, 0, 3, timeout_s=_WAIT_S)
    numbers = list(range(load["sent"]))
    assert read_all(cluster, SOURCE) == [numbers[each::PARTITIONS] for each in range(PARTITIONS)]
    assert read_all(cluster, TARGET) == [numbers[each::PARTITIONS] for each in range(PARTITIONS)]


def read_all(cluster: RunningCluster, topic: str) -> list[list[int]]:
    """The numbers in each partition, for those who read what is committed."""
    found: list[list[int]] = [[] for _ in range(PARTITIONS)]
    with blocking.Consumer[bytes, bytes](
        bootstrap_servers=cluster.bootstrap_servers,
        isolation_level="read_committed",
        client_rack="rack-1",
    ) as consumer:
        ends = consumer.end_offsets(consumer.partitions_of(topic))
        consumer.assign(dict.fromkeys(ends, 0))
        while any(consumer.position(each) < end for each, end in ends.items()):
            for record in consumer.poll(1):
                found[record.partition].append(int(record.value or b""))
    return found


def test_records_are_read_from_the_replica_of_one_s_own_rack(cluster: RunningCluster) -> None:
    with blocking.Producer[bytes, bytes](bootstrap_servers=cluster.bootstrap_servers) as producer:
        for number in range(100):
            producer.send(SOURCE, b"%d" % number, partition=0)
    partition = TopicPartition(SOURCE, 0)
    leader = cluster.leader(SOURCE)
    nearest = (leader + 1) % 3
    with blocking.Consumer[bytes, bytes](
        bootstrap_servers=cluster.bootstrap_servers,
        client_rack=f"rack-{nearest}",
        auto_offset_reset="earliest",
        retry_backoff_ms=20,
    ) as consumer:
        consumer.assign([partition])
        assert [int(next(consumer).value or b"") for _ in range(100)] == list(range(100))
        assert consumer.client._assignment[partition].read_from == nearest
        cluster[nearest].kill()
        with blocking.Producer[bytes, bytes](
            bootstrap_servers=cluster.bootstrap_servers
        ) as producer:
            producer.send(SOURCE, b"100", partition=0)
        assert int(next(consumer).value or b"") == 100
