"""Growing a topic, also while others do the same."""

import asyncio

import pytest

from moldau.broker.topics.tree import Topics
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.topics import PartitionAssignment, TopicAssignment
from moldau.coordination.memory import MemoryEnsemble
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.cache import MetadataCache
from moldau.metadata.image import BrokerNode, ClusterImage
from moldau.protocol.messages.create_partitions import CreatePartitionsTopic
from moldau.runtime.waiters import Waiters
from unit.broker.world import SettableClock, broker_world


def wish(count: int) -> CreatePartitionsTopic:
    return CreatePartitionsTopic(name="t", count=count, assignments=None)


async def test_two_who_let_a_topic_grow_at_once_do_not_undo_each_other() -> None:
    async with broker_world() as world:
        await world.create_topic("t")
        growth = world.broker.topic_growth
        outcomes = await asyncio.gather(
            growth.grow(wish(3), take=lambda _: None),
            growth.grow(wish(5), take=lambda _: None),
            return_exceptions=True,
        )
        assert await world.broker.topics.until_led("t", 5, timeout_s=5)
        refused = [one for one in outcomes if isinstance(one, KafkaError)]
        assert all(one.code == ErrorCode.INVALID_PARTITIONS for one in refused)


@pytest.mark.parametrize(
    ("leader", "added"),
    [
        # What kafka.admin.AdminUtils answers for brokers 1, 3, 5 and 7, from partition 1 on.
        (3, [(5, 1), (7, 3), (1, 5)]),
        (4, [(7, 5), (1, 7), (3, 1)]),
        (9, [(3, 5), (5, 7), (7, 1)]),
    ],
)
async def test_a_topic_grows_on_from_its_first_leader(
    leader: int, added: list[tuple[int, int]]
) -> None:
    metadata = MetadataCache()
    metadata.image = ClusterImage(brokers={one: BrokerNode(one, {}) for one in (7, 1, 5, 3)})

    def draw(_count: int) -> int:
        raise AssertionError("nothing is left to chance")

    tree = MemoryEnsemble(SettableClock()).connect()
    topics = Topics(tree, metadata, Waiters(), new_uuid=lambda: b"i" * 16, draw=draw)
    known = TopicAssignment(partitions={0: PartitionAssignment(replicas=(leader, 1))})
    assert topics.place_more(3, known) == dict(enumerate(added, start=1))


async def test_a_topic_on_the_move_does_not_grow() -> None:
    async with broker_world() as world:
        await world.create_topic("t")
        moving = PartitionAssignment(replicas=(0, 1), adding=(1,))
        assignment = TopicAssignment(partitions={0: moving})
        await world.tree.set(topic_nodes.topic_path("t"), assignment.encode())
        with pytest.raises(KafkaError) as refused:
            await world.broker.topic_growth.grow(wish(3), take=None)
        assert refused.value.code == ErrorCode.REASSIGNMENT_IN_PROGRESS
