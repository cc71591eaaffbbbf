"""Three brokers on a real ZooKeeper: leaders, controllers and sessions come and go.

Every test leaves the cluster whole, for the next one.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from conformance.apache.marks import needs_apache
from conformance.our_broker import OurBroker
from conformance.our_cluster import DEADLINE_S, OurCluster, our_cluster, until
from moldau.errors import ErrorCode
from moldau.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.delete_topics import DeleteTopicsRequest
from moldau.testing.wire import WireClient

pytestmark = needs_apache("kafka-3.9")

RECORDS = 300


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurCluster]:
    with our_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def cluster(shared: OurCluster) -> OurCluster:
    shared.start()
    until(lambda: shared.live() == {1, 2, 3} and shared.controller(), "all brokers are there")
    return shared


def create(cluster: OurCluster, name: str, partition_count: int = 1) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.create_topics([NewTopic(name, partition_count, 3)])[name].result(DEADLINE_S)
    cluster.until_in_sync(name, partition_count)


class Sender:
    """A producer with acks=all that knows which of its records were acknowledged."""

    def __init__(self, cluster: OurCluster, topic: str, **settings: object) -> None:
        self.acknowledged: list[bytes] = []
        self.errors: list[KafkaError] = []
        self._topic = topic
        self._number = 0
        self._producer = Producer(
            {
                "bootstrap.servers": cluster.bootstrap,
                "acks": "all",
                "enable.idempotence": True,
                **settings,
            }
        )

    def send(self, count: int = RECORDS, *, padding: str = "") -> None:
        """Send so many records and wait until the fate of each is known."""
        for _ in range(count):
            value = f"{self._number}{padding}"
            self._producer.produce(self._topic, value.encode(), on_delivery=self._note)
            self._number += 1
        assert self._producer.flush(DEADLINE_S) == 0

    def _note(self, error: KafkaError | None, message: object) -> None:
        if error is None:
            self.acknowledged.append(message.value())  # type: ignore[attr-defined]
        else:
            self.errors.append(error)


def consume(cluster: OurCluster, topic: str, count: int, group: str | None = None) -> list[bytes]:
    """So many records of a topic, from its beginning."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": group or topic,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe([topic])
    values: list[bytes] = []

    def look() -> bool:
        values.extend(
            message.value() or b"" for message in consumer.consume(500, 0.1) if not message.error()
        )
        return len(values) >= count

    try:
        until(look, f"{count} records of {topic}, not {len(values)}")
    finally:
        consumer.close()
    return values


def test_the_walk_through_of_a_cluster(cluster: OurCluster) -> None:
    create(cluster, "walk", 3)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    topic = admin.list_topics("walk", timeout=DEADLINE_S).topics["walk"]
    assert sorted(one.leader for one in topic.partitions.values()) == [1, 2, 3]
    assert all(sorted(one.replicas) == [1, 2, 3] for one in topic.partitions.values())
    sender = Sender(cluster, "walk")
    sender.send()
    consume(cluster, "walk", RECORDS, group="before")
    before = cluster.state("walk")
    cluster.brokers[before.leader].kill()
    sender.send()
    after = cluster.until_led_by_another("walk", before)
    assert after.leader in before.isr
    assert after.leader_epoch > before.leader_epoch
    assert before.leader not in after.isr
    assert sender.errors == []
    assert sorted(consume(cluster, "walk", 2 * RECORDS)) == sorted(sender.acknowledged)
    cluster.start()
    cluster.until_in_sync("walk", 3)


def test_two_of_three_lost_and_back(cluster: OurCluster) -> None:
    create(cluster, "lost")
    sender = Sender(cluster, "lost")
    sender.send()
    leader = cluster.state("lost").leader
    others = [number for number in cluster.brokers if number != leader]
    for number in others:
        cluster.brokers[number].kill()
    until(lambda: cluster.state("lost").isr == (leader,), "the leader is alone")
    hasty = Sender(cluster, "lost", **{"message.timeout.ms": 1500})
    hasty.send(5)
    assert hasty.acknowledged == []
    assert len(hasty.errors) == 5
    cluster.start()
    cluster.until_in_sync("lost")
    sender.send()
    assert set(consume(cluster, "lost", 2 * RECORDS)) >= set(sender.acknowledged)
    assert sender.errors == []


def test_the_next_controller_takes_over_where_the_last_one_died(cluster: OurCluster) -> None:
    epoch = cluster.controller_epoch()
    first = until(cluster.controller, "there is a controller")
    cluster.brokers[first].kill()

    def look() -> int | None:
        now = cluster.controller()
        return now if now != first else None

    until(look, "another controller")
    assert cluster.controller_epoch() == epoch + 1
    cluster.start()
    create(cluster, "after-controller")
    sender = Sender(cluster, "after-controller")
    sender.send()
    assert sender.errors == []


def test_only_the_controller_creates_and_deletes_topics(cluster: OurCluster) -> None:
    controller = until(cluster.controller, "there is a controller")
    topic = CreatableTopic(
        name="elsewhere", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    for number, broker in cluster.brokers.items():
        if number != controller:
            with WireClient(broker.bootstrap) as client:
                request = CreateTopicsRequest(topics=[topic], timeout_ms=1000)
                (result,) = client.ask(request, version=5).topics
                assert result.error_code == ErrorCode.NOT_CONTROLLER
                deletion = DeleteTopicsRequest(topic_names=["elsewhere"], timeout_ms=1000)
                (result,) = client.ask(deletion, version=5).responses
                assert result.error_code == ErrorCode.NOT_CONTROLLER


def test_a_leader_that_is_stopped_hands_over_without_a_failed_write(cluster: OurCluster) -> None:
    create(cluster, "handed")
    sender = Sender(cluster, "handed", **{"message.timeout.ms": 10_000})
    sender.send()
    before = cluster.state("handed")
    cluster.brokers[before.leader].stop()
    # It was handed over before the broker was gone.
    after = cluster.state("handed")
    assert after.leader not in (before.leader, -1)
    assert before.leader not in after.isr
    sender.send()
    assert sender.errors == []
    assert sorted(consume(cluster, "handed", 2 * RECORDS)) == sorted(sender.acknowledged)
    cluster.start()
    cluster.until_in_sync("handed")


def test_a_leader_that_stood_still_finds_itself_replaced(cluster: OurCluster) -> None:
    create(cluster, "zombie")
    # What was sent to it is not waited for as long as usual: nobody has hung up.
    sender = Sender(cluster, "zombie", **{"socket.timeout.ms": 2000})
    sender.send()
    before = cluster.state("zombie")
    process_id = cluster.brokers[before.leader].process_id
    os.kill(process_id, signal.SIGSTOP)
    try:
        cluster.until_led_by_another("zombie", before)
        sender.send()
    finally:
        os.kill(process_id, signal.SIGCONT)
    # Its session has expired meanwhile: it registers again and follows.
    until(lambda: cluster.live() == {1, 2, 3}, "it is back")
    cluster.until_in_sync("zombie")
    assert cluster.state("zombie").leader != before.leader
    assert sender.errors == []
    assert sorted(consume(cluster, "zombie", 2 * RECORDS)) == sorted(sender.acknowledged)


def test_a_deleted_topic_is_gone_everywhere_and_can_be_made_anew(cluster: OurCluster) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    for group in ("first", "second"):
        create(cluster, "again")
        sender = Sender(cluster, "again")
        sender.send(10)
        assert sorted(consume(cluster, "again", 10, group)) == sorted(sender.acknowledged)
        admin.delete_topics(["again"])["again"].result(DEADLINE_S)
        until(
            lambda: (
                not [
                    path
                    for broker in cluster.brokers.values()
                    for path in broker.log_directory.glob("again-0")
                ]
            ),
            "the logs are gone",
        )


def test_a_broker_of_another_cluster_refuses_to_start(cluster: OurCluster, tmp_path: Path) -> None:
    log_directory = tmp_path / "logs"
    log_directory.mkdir()
    (log_directory / "meta.properties").write_text(
        "version=0\nbroker.id=9\ncluster.id=another-cluster-entirely\n"
    )
    stranger = OurBroker(tmp_path, {"broker.id": "9", "zookeeper.connect": cluster.connect})
    with pytest.raises(RuntimeError, match="is of cluster another-cluster-entirely"):
        stranger.start()


def test_a_second_broker_of_the_same_id_refuses_to_start(
    cluster: OurCluster, tmp_path: Path
) -> None:
    settings = {
        "broker.id": "1",
        "zookeeper.connect": cluster.connect,
        "zookeeper.session.timeout.ms": "1000",
    }
    with pytest.raises(RuntimeError, match="broker 1 is registered already"):
        OurBroker(tmp_path, settings).start()
    assert cluster.live() == {1, 2, 3}


def test_a_broker_without_an_id_is_given_one(cluster: OurCluster, tmp_path: Path) -> None:
    newcomer = OurBroker(tmp_path, {"zookeeper.connect": cluster.connect})
    newcomer.start()
    try:
        assert cluster.live() - {1, 2, 3} == {1001}
    finally:
        newcomer.stop()
    until(lambda: cluster.live() == {1, 2, 3}, "it is gone")
