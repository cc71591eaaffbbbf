"""Anomalies that systems with Kafka's protocol have shown, each as it must not happen here.

Three brokers in this process, two of which must be in sync; each test has a topic of its own.
"""

import threading
from collections.abc import Iterator

import pytest

from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.produce import PartitionProduceResponse
from moldau.records.batch import Producer, write_batch
from moldau.records.record import Record
from moldau.testing.cluster import RunningCluster, running_cluster
from moldau.testing.contents import records_of
from moldau.testing.control import Call, Drop
from moldau.testing.wire import WireClient
from unit.testing.requests import batch, fetch, produce

NO_LEADER = -1


@pytest.fixture(scope="module")
def running() -> Iterator[RunningCluster]:
    settings = {
        "min.insync.replicas": "2",
        "replica.fetch.wait.max.ms": "100",
    }
    with running_cluster(3, settings) as cluster:
        yield cluster


@pytest.fixture
def cluster(running: RunningCluster) -> Iterator[RunningCluster]:
    yield running
    for member in running:
        if not member.is_up:
            member.start()


def write(
    cluster: RunningCluster, broker: int, topic: str, records: bytes, *, acks: int = -1
) -> PartitionProduceResponse:
    with WireClient(cluster[broker].address) as client:
        response = client.ask(produce(topic, records, acks=acks))
    answer: PartitionProduceResponse = response.responses[0].partition_responses[0]
    return answer


def committed(cluster: RunningCluster, broker: int, topic: str) -> list[bytes | None]:
    """What a consumer could read from a broker's log."""
    found = cluster.look(lambda _: records_of(cluster[broker].broker, topic))
    return [record.value for record in found[0]]


def high_watermark(cluster: RunningCluster, broker: int, topic: str) -> int:
    return cluster[broker].broker.replicas.replica(TopicPartition(topic, 0)).log.high_watermark


def replica_id(call: Call) -> int:
    state = call.request.replica_state
    return int(call.request.replica_id if state is None else state.replica_id)


def test_a1_what_one_replica_alone_has_is_not_acknowledged_and_no_other_replaces_it(
    cluster: RunningCluster,
) -> None:
    cluster.create_topic("a1", replicas={0: (0, 1, 2)})
    assert write(cluster, 0, "a1", batch(b"all")).error_code == ErrorCode.NONE
    for broker in (1, 2):
        cluster[broker].kill()
    cluster.wait_for_in_sync("a1", 0, 1)
    refused = write(cluster, 0, "a1", batch(b"refused"))
    assert refused.error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert write(cluster, 0, "a1", batch(b"leader only"), acks=1).error_code == ErrorCode.NONE
    cluster[0].kill()
    for broker in (1, 2):
        cluster[broker].start()
    # Neither is in sync: electing one would lose what the last leader has.
    cluster.wait_for(
        lambda _: all(_known_leader(cluster, broker, "a1") == NO_LEADER for broker in (1, 2))
    )
    cluster[0].start()
    cluster.wait_for_in_sync("a1", 0, 3)
    assert cluster.leader("a1") == 0
    cluster.wait_for(lambda _: high_watermark(cluster, 2, "a1") == 2)
    assert committed(cluster, 2, "a1") == [b"all", b"leader only"]


def test_a3_a_retry_at_the_next_leader_is_recognised(cluster: RunningCluster) -> None:
    cluster.create_topic("a3", replicas={0: (0, 1, 2)})
    producer = Producer(producer_id=4711, epoch=0, base_sequence=0)
    records = bytes(write_batch([Record(0, 1_000, None, b"once", ())], producer=producer))
    first = write(cluster, 0, "a3", records)
    assert (first.error_code, first.base_offset) == (ErrorCode.NONE, 0)
    cluster[0].kill()
    leader = cluster.wait_for_leader("a3", other_than=0)
    again = write(cluster, leader, "a3", records)
    assert (again.error_code, again.base_offset) == (ErrorCode.NONE, 0)
    cluster.wait_for(lambda _: high_watermark(cluster, leader, "a3") == 1)
    assert committed(cluster, leader, "a3") == [b"once"]


def test_a4_what_may_be_truncated_is_neither_acknowledged_nor_read(cluster: RunningCluster) -> None:
    cluster.create_topic("a4", replicas={0: (0, 1, 2)})
    write(cluster, 0, "a4", batch(b"first"))
    cut_off: set[int] = set()

    def drop(call: Call) -> Drop | None:
        replica = replica_id(call)
        if replica < 0:
            return None
        cut_off.add(replica)
        return Drop()

    heal = cluster[0].control("Fetch", drop)
    cluster.wait_for(lambda _: cut_off == {1, 2})
    answers: list[PartitionProduceResponse] = []
    producing = threading.Thread(
        target=lambda: answers.append(write(cluster, 0, "a4", batch(b"never seen")))
    )
    producing.start()
    name = TopicPartition("a4", 0)
    cluster.wait_for(lambda _: cluster[0].broker.replicas.replica(name).log.log_end_offset == 2)
    with WireClient(cluster[0].address) as client:
        read = client.ask(fetch("a4", 1), 12).responses[0].partitions[0]
    assert (read.error_code, read.high_watermark, bytes(read.records)) == (0, 1, b"")
    cluster[0].lose_session()
    leader = cluster.wait_for_leader("a4", other_than=0)
    producing.join()
    assert answers[0].error_code != ErrorCode.NONE, "nobody else has it"
    heal()
    write(cluster, leader, "a4", batch(b"second"))
    cluster.wait_for_in_sync("a4", 0, 3)
    cluster.wait_for(lambda _: high_watermark(cluster, 0, "a4") == 2)
    assert committed(cluster, 0, "a4") == [b"first", b"second"]


def test_a6_everything_acknowledged_is_readable_after_an_election_without_new_writes(
    cluster: RunningCluster,
) -> None:
    cluster.create_topic("a6", replicas={0: (0, 1, 2)})
    for number in range(20):
        assert write(cluster, 0, "a6", batch(b"%d" % number)).error_code == ErrorCode.NONE
    cluster[0].kill()
    leader = cluster.wait_for_leader("a6", other_than=0)
    cluster.wait_for(lambda _: high_watermark(cluster, leader, "a6") == 20)
    assert committed(cluster, leader, "a6") == [b"%d" % number for number in range(20)]


def test_a7_without_any_fault_offsets_are_dense_and_nothing_is_lost(
    cluster: RunningCluster,
) -> None:
    cluster.create_topic("a7", replicas={0: (0, 1, 2)})
    offsets = [
        write(cluster, 0, "a7", batch(b"%d" % number, b"and")).base_offset for number in range(50)
    ]
    assert offsets == list(range(0, 100, 2))
    brokers = range(3)
    cluster.wait_for(
        lambda _: all(high_watermark(cluster, broker, "a7") == 100 for broker in brokers)
    )
    assert [len(committed(cluster, broker, "a7")) for broker in brokers] == [100] * 3


def _known_leader(cluster: RunningCluster, broker: int, topic: str) -> int | None:
    found = cluster[broker].broker.metadata.image.partition(topic, 0)
    return None if found is None else found.leader
