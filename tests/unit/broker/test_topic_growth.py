"""Growing a topic, also while others do the same."""

import asyncio

import pytest

from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.topics import PartitionAssignment, TopicAssignment
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.create_partitions import CreatePartitionsTopic
from unit.broker.world import broker_world


def wish(count: int) -> CreatePartitionsTopic:
    return CreatePartitionsTopic(name="t", count=count, assignments=None)


async def test_two_who_let_a_topic_grow_at_once_do_not_undo_each_other() -> None:
    async with broker_world() as world:
        await world.create_topic("t")
        growth = world.broker.topic_growth
        outcomes = await asyncio.gather(
            growth.grow(wish(3), is_only_checked=False),
            growth.grow(wish(5), is_only_checked=False),
            return_exceptions=True,
        )
        assert await world.broker.topics.until_led("t", 5, timeout_s=5)
        refused = [one for one in outcomes if isinstance(one, KafkaError)]
        assert all(one.code == ErrorCode.INVALID_PARTITIONS for one in refused)


async def test_a_topic_on_the_move_does_not_grow() -> None:
    async with broker_world() as world:
        await world.create_topic("t")
        moving = PartitionAssignment(replicas=(0, 1), adding=(1,))
        assignment = TopicAssignment(partitions={0: moving})
        await world.tree.set(topic_nodes.topic_path("t"), assignment.encode())
        with pytest.raises(KafkaError) as refused:
            await world.broker.topic_growth.grow(wish(3), is_only_checked=True)
        assert refused.value.code == ErrorCode.REASSIGNMENT_IN_PROGRESS
