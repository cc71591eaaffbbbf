"""Coordinators follow the leadership of the partitions they keep their state in."""

from moldau.broker.coordination.coordinators import partition_count
from moldau.broker.topics.internal import CONSUMER_OFFSETS
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.replication.replicas import RoleChanges
from unit.broker.group_client import SETTINGS, commit_request, find_coordinator, joined
from unit.broker.world import Setting, World, broker_world

T = TopicPartition("t", 0)


def state_of(world: World) -> ErrorCode:
    try:
        world.broker.groups.describe("g")
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


async def test_what_is_led_is_coordinated_until_it_is_followed() -> None:
    async with broker_world(SETTINGS) as world:
        assert state_of(world) is ErrorCode.NOT_COORDINATOR
        await find_coordinator(world)
        assert state_of(world) is ErrorCode.NONE
        number = world.broker.groups.shards.partition_of("g")
        partition = world.partition(CONSUMER_OFFSETS, number)
        world.broker.coordinators.leadership_changed(RoleChanges(following=[partition]))
        assert state_of(world) is ErrorCode.NOT_COORDINATOR
        world.broker.coordinators.leadership_changed(RoleChanges(leading=[partition]))
        assert state_of(world) is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        await find_coordinator(world)
        assert state_of(world) is ErrorCode.NONE
        world.broker.coordinators.resign([partition.topic_partition, TopicPartition("t", 0)])
        assert state_of(world) is ErrorCode.NOT_COORDINATOR


async def test_other_topics_do_not_matter() -> None:
    async with broker_world(SETTINGS) as world:
        await world.create_topic("t")
        world.broker.coordinators.leadership_changed(RoleChanges(leading=[world.partition("t")]))
        assert not world.broker.groups.shards.is_loading


async def test_a_restarted_broker_knows_its_groups() -> None:
    setting = Setting()
    async with broker_world(SETTINGS, setting) as world:
        await world.create_topic("t")
        member_id = await joined(world)
        request = commit_request(("t", 0, 5), member_id=member_id, generation_id_or_member_epoch=1)
        await world.ask(request, 2)
    async with broker_world(SETTINGS, setting) as world:
        await find_coordinator(world)
        fetched = await world.broker.groups.fetch("g", [T], require_stable=False)
        assert fetched[T].offset == 5
        described = world.broker.groups.describe("g")
        assert described.state == "Stable"
        assert [each.member_id for each in described.members] == [member_id]


async def test_the_count_is_the_topics_once_it_is_there() -> None:
    async with broker_world(SETTINGS) as world:
        assert partition_count(world.broker.metadata, CONSUMER_OFFSETS, 50) == 50
        await find_coordinator(world)
        assert partition_count(world.broker.metadata, CONSUMER_OFFSETS, 50) == 2
