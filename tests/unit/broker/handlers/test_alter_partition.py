"""AlterPartition: the controller writes what leaders ask it to."""

import pytest

from moldau.controller.cluster import LiveBroker, ReplicaAssignment
from moldau.coordination.layout import topics as topic_nodes
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
    RequestPartitionData,
    RequestTopicData,
)
from unit.broker.world import World

T0 = TopicPartition("t", 0)
OTHER = LiveBroker(1, 5, ())


async def partition_of_two(world: World) -> None:
    """A topic with a replica on another broker, which is there but not in sync."""
    await world.create_topic("t")
    cluster = world.broker.controller.machine.cluster
    cluster.brokers[1] = OTHER
    cluster.topics["t"].partitions[0] = ReplicaAssignment((0, 1))


async def ask(world: World, version: int, *isr: int, epoch: int | None = None) -> int:
    """Ask for a set; returns the error of the partition, or of the whole request."""
    topic_id = world.broker.controller.machine.cluster.topics["t"].topic_id
    assert topic_id is not None
    data = RequestPartitionData(partition_index=0, leader_epoch=0, partition_epoch=0)
    if version >= 3:
        data.new_isr_with_epochs = [BrokerState(broker_id=one) for one in isr]
    else:
        data.new_isr = list(isr)
    topic = RequestTopicData(
        topic_name="t" if version < 2 else "",
        topic_id=topic_id if version >= 2 else bytes(16),
        partitions=[data],
    )
    own = world.broker.registration.epoch
    request = AlterPartitionRequest(
        broker_id=0, broker_epoch=own if epoch is None else epoch, topics=[topic]
    )
    answer: AlterPartitionResponse = await world.ask(request, version)
    if answer.error_code != ErrorCode.NONE:
        return answer.error_code
    (partition,) = answer.topics[0].partitions
    if partition.error_code == ErrorCode.NONE:
        assert partition.isr == list(isr)
        assert (partition.leader_id, partition.partition_epoch) == (0, 1)
    return partition.error_code


@pytest.mark.parametrize("version", range(4))
async def test_a_set_is_written_to_the_tree_and_told(world: World, version: int) -> None:
    await partition_of_two(world)
    assert await ask(world, version, 0, 1) == ErrorCode.NONE
    node = await world.tree.get(topic_nodes.state_path(T0))
    assert topic_nodes.decode_state(node.data).isr == (0, 1)
    assert await ask(world, version, 0, 1) == ErrorCode.NONE, "asked again"


@pytest.mark.parametrize(
    ("version", "code"),
    [(1, ErrorCode.OPERATION_NOT_ATTEMPTED), (3, ErrorCode.INELIGIBLE_REPLICA)],
)
async def test_who_is_not_there_cannot_be_in_sync(
    world: World, version: int, code: ErrorCode
) -> None:
    await partition_of_two(world)
    assert await ask(world, version, 0, 7) == code


async def test_a_node_that_was_changed_meanwhile_stays(world: World) -> None:
    await partition_of_two(world)
    path = topic_nodes.state_path(T0)
    await world.tree.set(path, (await world.tree.get(path)).data)
    assert await ask(world, 3, 0, 1) == ErrorCode.INVALID_UPDATE_VERSION


async def test_an_earlier_life_of_a_broker_is_not_listened_to(world: World) -> None:
    await partition_of_two(world)
    own = world.broker.registration.epoch
    assert await ask(world, 3, 0, 1, epoch=own - 1) == ErrorCode.STALE_BROKER_EPOCH


async def test_a_topic_that_nobody_knows_has_no_set(world: World) -> None:
    data = RequestPartitionData(partition_index=0, leader_epoch=0, partition_epoch=0)
    request = AlterPartitionRequest(
        broker_id=0,
        broker_epoch=world.broker.registration.epoch,
        topics=[RequestTopicData(topic_id=b"u" * 16, partitions=[data])],
    )
    (topic,) = (await world.ask(request, 3)).topics
    assert topic.partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
