"""The picture of the cluster answers simple questions."""

from moldau.metadata.image import (
    BrokerEndpoint,
    BrokerNode,
    ClusterImage,
    PartitionImage,
    TopicImage,
)

PARTITION = PartitionImage(1, 0, (1,), (1,))
IMAGE = ClusterImage(
    brokers={1: BrokerNode(1, {"PLAINTEXT": BrokerEndpoint("h", 9092)})},
    topics={"t": TopicImage("t", b"0" * 16, {0: PARTITION})},
)


def test_partitions_are_found_by_topic_and_number() -> None:
    assert IMAGE.partition("t", 0) is PARTITION
    assert IMAGE.partition("t", 1) is None
    assert IMAGE.partition("u", 0) is None


def test_endpoints_are_found_by_broker_and_listener() -> None:
    assert IMAGE.endpoint(1, "PLAINTEXT") == BrokerEndpoint("h", 9092)
    assert IMAGE.endpoint(1, "SSL") is None
    assert IMAGE.endpoint(2, "PLAINTEXT") is None
