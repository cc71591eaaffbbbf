"""ElectLeaders: a broker that is alone leads as it should."""

import pytest

from moldau.controller.cluster import ReplicaAssignment
from moldau.errors import ErrorCode
from moldau.metadata.image import ClusterImage, TopicImage
from moldau.model import TopicPartition
from moldau.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)
from unit.broker.world import World

PREFERRED, UNCLEAN = 0, 1
NEWEST = 2


async def elect(
    world: World,
    partitions: dict[str, list[int]] | None,
    *,
    kind: int = PREFERRED,
    version: int = NEWEST,
) -> ElectLeadersResponse:
    asked = None
    if partitions is not None:
        asked = [TopicPartitions(topic=name, partitions=one) for name, one in partitions.items()]
    request = ElectLeadersRequest(election_type=kind, topic_partitions=asked, timeout_ms=100)
    response: ElectLeadersResponse = await world.ask(request, version)
    return response


def codes(response: ElectLeadersResponse) -> dict[tuple[str, int], int]:
    return {
        (topic.topic, one.partition_id): one.error_code
        for topic in response.replica_election_results
        for one in topic.partition_result
    }


@pytest.mark.parametrize("version", range(NEWEST + 1))
async def test_the_preferred_leader_leads_already(world: World, version: int) -> None:
    await world.create_topic("t", 2)
    response = await elect(world, {"t": [0, 9], "none": [0]}, version=version)
    assert response.error_code == ErrorCode.NONE
    assert codes(response) == {
        ("t", 0): ErrorCode.ELECTION_NOT_NEEDED,
        ("t", 9): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("none", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }


async def test_asked_for_all_only_those_with_news_are_told(world: World) -> None:
    await world.create_topic("t", 2)
    assert codes(await elect(world, None)) == {}


async def test_a_partition_with_a_leader_needs_no_unclean_election(world: World) -> None:
    await world.create_topic("t")
    response = await elect(world, {"t": [0]}, kind=UNCLEAN)
    assert codes(response) == {("t", 0): ErrorCode.ELECTION_NOT_NEEDED}


async def test_there_are_only_two_kinds_of_elections(world: World) -> None:
    await world.create_topic("t")
    response = await elect(world, {"t": [0]}, kind=9)
    assert response.error_code == ErrorCode.INVALID_REQUEST
    assert codes(response) == {("t", 0): ErrorCode.INVALID_REQUEST}


@pytest.mark.parametrize("version", [0, NEWEST])
async def test_only_the_controller_elects(world: World, version: int) -> None:
    await world.create_topic("t")
    world.broker.controller._term = None
    response = await elect(world, {"t": [0]}, version=version)
    assert response.error_code == (ErrorCode.NONE if version == 0 else ErrorCode.NOT_CONTROLLER)
    assert codes(response) == {("t", 0): ErrorCode.NOT_CONTROLLER}


def move_to(world: World, replicas: tuple[int, ...], isr: tuple[int, ...], leader: int) -> None:
    """Have the partition t-0 on other brokers, as far as this broker and controller know."""
    broker, name = world.broker, TopicPartition("t", 0)
    cluster = broker.controller.machine.cluster
    cluster.assign(name, ReplicaAssignment(replicas))
    cluster.leaders[name] = cluster.leaders[name]._replace(leader=leader, isr=isr)
    image = broker.metadata.image
    found = image.partition("t", 0)
    assert found is not None
    moved = found._replace(leader=leader, isr=isr, replicas=replicas)
    topics = {"t": TopicImage("t", image.topics["t"].topic_id, {0: moved})}
    broker.metadata.image = ClusterImage(0, image.brokers, topics, image.names_by_id)


async def test_an_unclean_election_makes_any_live_replica_the_leader(world: World) -> None:
    await world.create_topic("t")
    move_to(world, replicas=(7, 0), isr=(7,), leader=-1)
    response = await elect(world, {"t": [0]}, kind=UNCLEAN)
    assert codes(response) == {("t", 0): ErrorCode.NONE}
    assert world.broker.controller.machine.cluster.leaders[TopicPartition("t", 0)].leader == 0


async def test_where_no_replica_is_alive_none_can_be_elected(world: World) -> None:
    await world.create_topic("t")
    move_to(world, replicas=(7, 8), isr=(7,), leader=-1)
    response = await elect(world, {"t": [0]}, kind=UNCLEAN)
    assert codes(response) == {("t", 0): ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE}


async def test_a_preferred_leader_that_is_away_cannot_be_elected(world: World) -> None:
    await world.create_topic("t")
    move_to(world, replicas=(7, 0), isr=(0,), leader=0)
    response = await elect(world, {"t": [0]})
    assert codes(response) == {("t", 0): ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE}
