"""A client of the consumer protocol, to a broker in memory."""

from collections.abc import Mapping

from moldau.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from unit.broker.group_client import find_coordinator
from unit.broker.world import World


async def serving(world: World, topic: str, partition_count: int) -> None:
    """Have a topic, and the coordinator of the group."""
    await world.create_topic(topic, partition_count)
    await find_coordinator(world)


def joining(
    member_id: str, *topics: str | None, regex: str | None = None
) -> ConsumerGroupHeartbeatRequest:
    """Join with a subscription to `t`, unless told otherwise; None is for no names at all."""
    names = None if topics == (None,) else [each or "t" for each in topics or ("t",)]
    return ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id=member_id,
        member_epoch=0,
        rebalance_timeout_ms=20_000,
        subscribed_topic_names=names,
        subscribed_topic_regex=regex,
        topic_partitions=[],
    )


def heartbeat(
    member_id: str, epoch: int, owned: Mapping[bytes, list[int]] | None = None
) -> ConsumerGroupHeartbeatRequest:
    """Be alive, and tell what one has."""
    return ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id=member_id,
        member_epoch=epoch,
        topic_partitions=None
        if owned is None
        else [TopicPartitions(topic_id=each, partitions=owned[each]) for each in owned],
    )
