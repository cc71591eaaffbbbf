"""A group of the consumer protocol (KIP-848) whose coordinator is killed."""

from pathlib import Path

from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewTopic

from conformance.apache.marks import needs_apache
from conformance.our_cluster import DEADLINE_S, our_cluster, until
from conformance.test_consumer_groups_java import SETTINGS
from conformance.test_groups_confluent import PARTITIONS, owned, until_shared

pytestmark = needs_apache("kafka-3.9")

OFFSETS = "__consumer_offsets"
CLUSTER = {
    **SETTINGS,
    "group.consumer.max.session.timeout.ms": "60000",
    "group.consumer.session.timeout.ms": "30000",
    "group.coordinator.rebalance.protocols": "classic,consumer",
    "offsets.topic.num.partitions": "1",
}


def member(bootstrap: str) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "g",
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["t"])
    return consumer


def test_members_keep_their_partitions_when_the_coordinator_dies(tmp_path: Path) -> None:
    with our_cluster(tmp_path, CLUSTER) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        admin.create_topics([NewTopic("t", PARTITIONS, 3)])["t"].result(DEADLINE_S)
        first, second = member(cluster.bootstrap), member(cluster.bootstrap)
        until_shared(first, second)
        before = owned(first), owned(second)
        cluster.until_in_sync(OFFSETS)
        coordinator = cluster.state(OFFSETS)
        cluster.brokers[coordinator.leader].kill()
        cluster.until_led_by_another(OFFSETS, coordinator)
        third = member(cluster.bootstrap)

        def share() -> list[int]:
            """Nobody loses what it has, but for the share of the third."""
            for each in (first, second, third):
                each.poll(0.05)
            assert set(owned(first)) <= set(before[0])
            assert set(owned(second)) <= set(before[1])
            return owned(third)

        until(share, "the third has a share")
        until_shared(first, second, third)
        for each in (first, second, third):
            each.close()
