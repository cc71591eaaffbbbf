"""Transactions whose coordinator, partitions and groups are on different brokers."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from confluent_kafka import TopicPartition

from conformance.transacting import DEADLINE_S, producer_of, read, reader, write
from moldau.broker.topics.internal import TRANSACTION_STATE
from moldau.errors import ErrorCode
from moldau.testing.cluster import RunningCluster, running_cluster
from moldau.testing.control import Fail

PARTITIONS = 6
SETTINGS = {
    "transaction.state.log.num.partitions": "3",
    "offsets.topic.num.partitions": "3",
    "replica.fetch.wait.max.ms": "50",
    "group.initial.rebalance.delay.ms": "0",
}


@dataclass(frozen=True, slots=True)
class Brokers:
    """A cluster as the clients' short ways take it."""

    cluster: RunningCluster

    @property
    def bootstrap(self) -> str:
        return self.cluster.bootstrap_servers


@pytest.fixture(scope="module")
def running() -> Iterator[Brokers]:
    with running_cluster(3, SETTINGS) as cluster:
        yield Brokers(cluster)


@pytest.fixture
def brokers(running: Brokers) -> Brokers:
    for member in running.cluster:
        if not member.is_up:
            member.start()
    return running


def write_everywhere(
    brokers: Brokers, transactional_id: str, topic: str, *, is_commit: bool
) -> None:
    """One record to each partition, and the group's offset, in one transaction."""
    producer = producer_of(brokers, transactional_id)
    with reader(brokers) as consumer:
        producer.begin_transaction()
        for number in range(PARTITIONS):
            producer.produce(topic, transactional_id.encode(), partition=number)
        offset, group = TopicPartition(topic, 0, 1), consumer.consumer_group_metadata()
        producer.send_offsets_to_transaction([offset], group, DEADLINE_S)
        if is_commit:
            producer.commit_transaction(DEADLINE_S)
        else:
            producer.abort_transaction(DEADLINE_S)


def test_transactions_of_many_coordinators_end_on_all_brokers(brokers: Brokers) -> None:
    brokers.cluster.create_topic("everywhere", partitions=PARTITIONS)
    names = [f"everywhere-{number}" for number in range(6)]
    writers = [
        threading.Thread(
            target=write_everywhere,
            args=(brokers, name, "everywhere"),
            kwargs={"is_commit": number % 3 != 0},
        )
        for number, name in enumerate(names)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    committed = sorted(name.encode() for number, name in enumerate(names) if number % 3 != 0)
    for number in range(PARTITIONS):
        assert sorted(wait_for(brokers, "everywhere", number, len(committed))) == committed
    coordinators = {
        brokers.cluster.leader(TRANSACTION_STATE, number)
        for number in range(int(SETTINGS["transaction.state.log.num.partitions"]))
    }
    assert len(coordinators) == 3, "all of them coordinate something"


def wait_for(brokers: Brokers, topic: str, number: int, count: int) -> list[bytes]:
    """What is committed, as soon as it is so many records."""
    deadline = time.monotonic() + DEADLINE_S
    while len(found := read(brokers, topic, number=number)) < count:
        assert time.monotonic() < deadline, f"only {found} is committed"
    return found


@pytest.mark.parametrize("is_commit", [True, False])
def test_another_coordinator_completes_what_was_decided(brokers: Brokers, is_commit: bool) -> None:
    cluster = brokers.cluster
    topic = f"orphan-{is_commit}"
    cluster.create_topic(topic, partitions=PARTITIONS)
    hide = Fail(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    shows = [member.control("WriteTxnMarkers", lambda _: hide) for member in cluster]
    write_everywhere(brokers, topic, topic, is_commit=is_commit)
    assert read(brokers, topic) == []
    coordinator = coordinator_of(cluster, topic)
    cluster[coordinator].kill()
    for show in shows:
        show()
    for number in range(PARTITIONS):
        cluster.wait_for_leader(topic, number, other_than=coordinator)
    producer = producer_of(brokers, f"{topic}-next")
    write(producer, topic, b"next", is_commit=True)
    expected = [topic.encode(), b"next"] if is_commit else [b"next"]
    assert wait_for(brokers, topic, 0, len(expected)) == expected
    with reader(brokers) as consumer:
        (found,) = consumer.committed([TopicPartition(topic, 0)], DEADLINE_S)
        assert (found.offset == 1) is is_commit


def coordinator_of(cluster: RunningCluster, transactional_id: str) -> int:
    shards = cluster[0].broker.transactions.shards
    return cluster.leader(TRANSACTION_STATE, shards.partition_of(transactional_id))
