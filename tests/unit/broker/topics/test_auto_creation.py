"""Topics that are made by asking for them."""

import asyncio

import pytest

from moldau.broker.topics.auto_creation import internal_overrides
from moldau.config.broker.broker import read_broker_config
from moldau.errors import ErrorCode, KafkaError
from unit.broker.world import World, broker_world

OFFSETS = "__consumer_offsets"
TRANSACTIONS = "__transaction_state"


async def refusal(world: World, name: str, *, is_allowed: bool = True) -> ErrorCode:
    with pytest.raises(KafkaError) as refused:
        await world.broker.auto_creation.create(name, is_allowed=is_allowed)
    return refused.value.code


async def test_a_topic_has_the_brokers_shape() -> None:
    async with broker_world({"num.partitions": "3"}) as world:
        await world.broker.auto_creation.create("t")
        topic = world.broker.metadata.image.topics["t"]
        assert len(topic.partitions) == 3
        assert all(one.leader == 0 for one in topic.partitions.values())
        assert world.broker.topic_configs.overrides_of("t") == {}


async def test_internal_topics_have_their_own_shape_and_settings() -> None:
    settings = {
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.num.partitions": "2",
        "auto.create.topics.enable": "false",
    }
    async with broker_world(settings) as world:
        for name, count in ((OFFSETS, 4), (TRANSACTIONS, 2)):
            await world.broker.auto_creation.create(name)
            assert len(world.broker.metadata.image.topics[name].partitions) == count
            assert world.partition(name).log.config.is_compacted


def test_internal_settings_are_kafkas() -> None:
    config = read_broker_config({})
    assert internal_overrides(OFFSETS, config) == {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": "104857600",
    }
    assert internal_overrides(TRANSACTIONS, config) == {
        "cleanup.policy": "compact",
        "compression.type": "uncompressed",
        "min.insync.replicas": "1",
        "segment.bytes": "104857600",
        "unclean.leader.election.enable": "false",
    }
    assert internal_overrides("__mine", config) == {}


async def test_where_topics_are_not_made_they_are_unknown() -> None:
    async with broker_world() as world:
        code = await refusal(world, "t", is_allowed=False)
        assert code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    async with broker_world({"auto.create.topics.enable": "false"}) as world:
        assert await refusal(world, "t") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_a_name_that_cannot_be_is_refused() -> None:
    async with broker_world() as world:
        for name in ("a b", ".", "t" * 250):
            assert await refusal(world, name) == ErrorCode.INVALID_TOPIC_EXCEPTION


async def test_whoever_comes_second_gets_what_the_first_one_made() -> None:
    async with broker_world() as world:
        await asyncio.gather(*(world.broker.auto_creation.create("t") for _ in range(3)))
        await world.broker.auto_creation.create("t")
        assert len(world.broker.metadata.image.topics["t"].partitions) == 1
