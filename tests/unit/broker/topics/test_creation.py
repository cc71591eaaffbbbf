"""Topics of one request: planned together, created together."""

from moldau.broker.topics.creation import PARTITIONS_MAX
from moldau.coordination.layout.configs import ConfigEntity
from moldau.errors import ErrorCode
from moldau.protocol.messages.create_topics import CreatableTopic
from moldau.runtime.turns import Turns
from unit.broker.world import World, broker_world


def wish(name: str, partitions: int = 1) -> CreatableTopic:
    return CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=1, assignments=[], configs=[]
    )


async def create(world: World, *wishes: CreatableTopic) -> list[ErrorCode | None]:
    creation = world.broker.topic_creation
    planned = await creation.plan(wishes, Turns())
    await creation.create(planned, timeout_s=5)
    return [None if topic.error is None else topic.error.code for topic in planned]


async def test_a_hundred_topics_are_created_together() -> None:
    async with broker_world() as world:
        assert await create(world, *(wish(f"t{number}") for number in range(100))) == [None] * 100
        image = world.broker.metadata.image
        assert len(image.topics) == len(image.names_by_id) == 100


async def test_a_plan_that_another_request_was_quicker_with_fails() -> None:
    async with broker_world() as world:
        creation = world.broker.topic_creation
        planned = await creation.plan([wish("t")], Turns())
        await world.create_topic("t")
        await creation.create(planned, timeout_s=5)
        (topic,) = planned
        assert topic.error is not None
        assert topic.error.code == ErrorCode.TOPIC_ALREADY_EXISTS


async def test_there_is_a_limit_to_the_partitions_of_a_topic() -> None:
    async with broker_world() as world:
        creation = world.broker.topic_creation
        wishes = [wish("a", PARTITIONS_MAX), wish("b", PARTITIONS_MAX + 1)]
        most, more = await creation.plan(wishes, Turns())
        assert most.error is None
        assert more.error is not None
        assert more.error.code == ErrorCode.INVALID_PARTITIONS


async def test_settings_that_a_deleted_topic_left_behind_are_not_the_new_ones() -> None:
    async with broker_world() as world:
        await world.broker.configs.alter(ConfigEntity.topic("t"), lambda _: {"retention.ms": "5"})
        assert await create(world, wish("t")) == [None]
        assert world.broker.topic_configs.overrides_of("t") == {}
