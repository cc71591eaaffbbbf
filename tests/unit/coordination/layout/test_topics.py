"""Topics and the states of their partitions."""

import pytest

from moldau.coordination.layout.topics import (
    NO_LEADER,
    PartitionAssignment,
    PartitionStateNode,
    TopicAssignment,
    decode_state,
    decode_topic,
    partitions_path,
    state_path,
)
from moldau.model import TopicPartition
from unit.coordination.layout.conftest import Nodes

_PARTITIONS = {
    0: PartitionAssignment(replicas=(1, 2, 3)),
    1: PartitionAssignment(replicas=(2, 3, 1), adding=(3,), removing=(1,)),
}


@pytest.mark.parametrize(
    ("name", "topic_id"), [("topic-v3", "NuAYhIlXSqylOKJlVcNPEQ"), ("topic-v3-no-id", None)]
)
def test_a_topic_is_written_as_apache_kafka_writes_it(
    apache: Nodes, name: str, topic_id: str | None
) -> None:
    topic = TopicAssignment(partitions=_PARTITIONS, topic_id=topic_id)
    assert topic.encode() == apache[name]
    assert decode_topic(apache[name]) == topic


@pytest.mark.parametrize(
    ("data", "version"),
    [
        (b'{"version":1,"partitions":{"0":[1,2]}}', 1),
        (b'{"version":2,"partitions":{"0":[1,2]},"adding_replicas":{},"removing_replicas":{}}', 2),
    ],
)
def test_topics_of_older_versions_are_read(data: bytes, version: int) -> None:
    topic = decode_topic(data)
    assert topic.partitions == {0: PartitionAssignment(replicas=(1, 2))}
    assert (topic.version, topic.topic_id) == (version, None)


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("state", PartitionStateNode(leader=1, leader_epoch=4, isr=(1, 2), controller_epoch=9)),
        (
            "state-recovering",
            PartitionStateNode(
                leader=NO_LEADER, leader_epoch=4, isr=(1,), controller_epoch=9, is_recovering=True
            ),
        ),
    ],
)
def test_a_partitions_state_is_written_as_apache_kafka_writes_it(
    apache: Nodes, name: str, state: PartitionStateNode
) -> None:
    assert state.encode() == apache[name]
    assert decode_state(apache[name]) == state


def test_a_partitions_state_lies_below_its_topic() -> None:
    partition = TopicPartition("T", 3)
    assert state_path(partition) == "/brokers/topics/T/partitions/3/state"
    assert partitions_path("T") == "/brokers/topics/T/partitions"
