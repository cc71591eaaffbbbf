"""Metadata: brokers, topics and leaders as each version tells them; topics made by asking."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from moldau.errors import ErrorCode
from moldau.metadata.image import (
    BrokerEndpoint,
    BrokerNode,
    ClusterImage,
    PartitionImage,
    TopicImage,
)
from moldau.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from moldau.replication.partition import PartitionState
from unit.broker.world import CLIENT, World, broker_world

NEWEST = 12
NOT_ASKED = -(2**31)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        await world.create_topic("t", 2)
        await world.create_topic("u")
        yield world


def about(*names: str) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])


def only_topic(response: MetadataResponse) -> MetadataResponseTopic:
    (topic,) = response.topics
    return topic


@pytest.mark.parametrize("version", range(13))
async def test_every_version_tells_brokers_and_leaders(world: World, version: int) -> None:
    response = await world.ask(about("t"), version)
    (broker,) = response.brokers
    assert (broker.node_id, broker.host, broker.port) == (0, "10.0.0.1", 9092)
    assert response.controller_id == (0 if version >= 1 else -1)
    assert response.cluster_id == (world.broker.cluster_id if version >= 2 else None)
    topic = only_topic(response)
    assert (topic.error_code, topic.name) == (ErrorCode.NONE, "t")
    assert [(one.leader_id, one.replica_nodes, one.isr_nodes) for one in topic.partitions] == [
        (0, [0], [0])
    ] * 2
    assert {one.leader_epoch for one in topic.partitions} == {0 if version >= 7 else -1}
    assert any(topic.topic_id) == (version >= 10)
    assert topic.topic_authorized_operations == NOT_ASKED


async def test_all_topics_are_an_empty_list_in_version_0_and_null_later(world: World) -> None:
    def names(response: MetadataResponse) -> list[str | None]:
        return [topic.name for topic in response.topics]

    assert names(await world.ask(MetadataRequest(topics=[]), 0)) == ["t", "u"]
    for version in range(1, 13):
        assert names(await world.ask(MetadataRequest(topics=None), version)) == ["t", "u"]
        assert names(await world.ask(MetadataRequest(topics=[]), version)) == []


async def test_allowed_operations_are_told_to_whoever_asks(world: World) -> None:
    request = about("t")
    request.include_topic_authorized_operations = True
    request.include_cluster_authorized_operations = True
    for version in (8, 9, 10):
        response = await world.ask(request, version)
        assert only_topic(response).topic_authorized_operations == 0b110111111000
        assert response.cluster_authorized_operations == 0b1111110100000


# Topics made by asking


async def test_a_topic_is_made_by_asking_for_it(world: World) -> None:
    topic = only_topic(await world.ask(about("new"), NEWEST))
    assert (topic.error_code, len(topic.partitions)) == (ErrorCode.NONE, 1)
    assert topic.partitions[0].leader_id == 0


async def test_two_who_ask_at_once_get_the_same_topic(world: World) -> None:
    answers = await asyncio.gather(*(world.ask(about("new"), NEWEST) for _ in range(5)))
    assert {only_topic(answer).error_code for answer in answers} == {ErrorCode.NONE}
    assert len({only_topic(answer).topic_id for answer in answers}) == 1


async def test_several_topics_are_made_by_one_request(world: World) -> None:
    response = await world.ask(about("a", "t", "b", "a"), NEWEST)
    assert [topic.name for topic in response.topics] == ["a", "t", "b"]
    assert {topic.error_code for topic in response.topics} == {ErrorCode.NONE}


async def test_who_does_not_want_a_topic_made_hears_that_it_is_unknown(world: World) -> None:
    request = about("new")
    request.allow_auto_topic_creation = False
    topic = only_topic(await world.ask(request, 4))
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert "new" not in world.broker.metadata.image.topics


async def test_a_broker_that_makes_no_topics_makes_no_internal_ones_either() -> None:
    async with broker_world({"auto.create.topics.enable": "false"}) as world:
        for name in ("new", "__consumer_offsets"):
            topic = only_topic(await world.ask(about(name), NEWEST))
            assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "ä", "x" * 250])
async def test_illegal_names_are_refused(world: World, name: str) -> None:
    topic = only_topic(await world.ask(about(name), NEWEST))
    assert (topic.error_code, topic.name) == (ErrorCode.INVALID_TOPIC_EXCEPTION, name)


async def test_a_replication_factor_that_cannot_be_had_is_told() -> None:
    async with broker_world({"default.replication.factor": "3"}) as world:
        topic = only_topic(await world.ask(about("new"), NEWEST))
        assert topic.error_code == ErrorCode.INVALID_REPLICATION_FACTOR


# Topic ids


async def test_an_id_counts_more_than_a_name(world: World) -> None:
    known = world.broker.metadata.image.topics["u"].topic_id
    request = MetadataRequest(topics=[MetadataRequestTopic(topic_id=known, name="")])
    (found,) = (await world.ask(request, 12)).topics
    assert (found.error_code, found.name) == (ErrorCode.NONE, "u")


async def test_version_12_finds_topics_by_id(world: World) -> None:
    known = world.broker.metadata.image.topics["u"].topic_id
    request = MetadataRequest(
        topics=[
            MetadataRequestTopic(topic_id=known, name=None),
            MetadataRequestTopic(topic_id=b"?" * 16, name=None),
        ]
    )
    found, unknown = (await world.ask(request, 12)).topics
    assert (found.error_code, found.name) == (ErrorCode.NONE, "u")
    assert (unknown.error_code, unknown.name) == (ErrorCode.UNKNOWN_TOPIC_ID, None)
    assert unknown.topic_id == b"?" * 16
    for version in (10, 11):
        response = await world.ask(request, version)
        codes = {topic.error_code for topic in response.topics}
        assert codes == {ErrorCode.INVALID_REQUEST}


# Brokers that are away, or listen elsewhere


def with_two_brokers(world: World, *, is_live: bool) -> None:
    """Partition 0 of `x` is led by broker 7, which listens on another listener only."""
    image = world.broker.metadata.image
    brokers = dict(image.brokers)
    if is_live:
        brokers[7] = BrokerNode(7, {"OTHER": BrokerEndpoint("seven", 97)})
    partition = PartitionImage(7, 2, (7, 0), (0, 7), offline_replicas=() if is_live else (7,))
    led_here = PartitionImage(0, 1, (0,), (0, 7), offline_replicas=())
    topic = TopicImage("x", b"x" * 16, {0: partition, 1: led_here})
    world.broker.metadata.image = ClusterImage(0, brokers, {"x": topic}, {})


async def test_a_leader_that_is_away_is_not_named(world: World) -> None:
    with_two_brokers(world, is_live=False)
    partition, _ = only_topic(await world.ask(about("x"), NEWEST)).partitions
    assert (partition.error_code, partition.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)
    assert (partition.replica_nodes, partition.offline_replicas) == ([0, 7], [7])


async def test_a_leader_that_only_a_replica_knows_of_yet_is_named(world: World) -> None:
    image = world.broker.metadata.image
    brokers = {**image.brokers, 5: BrokerNode(5, {"PLAINTEXT": BrokerEndpoint("five", 95)})}
    world.broker.metadata.image = replace(image, brokers=brokers)
    world.partition("t").follow(PartitionState(1, 5, 4, (5,), 0, (0, 5)))
    first, second = only_topic(await world.ask(about("t"), NEWEST)).partitions
    assert (first.leader_id, first.leader_epoch, first.isr_nodes) == (5, 4, [5])
    assert (second.leader_id, second.leader_epoch, second.isr_nodes) == (0, 0, [0])


@pytest.mark.parametrize("is_sooner", [True, False])
async def test_a_leader_that_seems_to_be_gone_is_not_named_unless_that_is_off(
    is_sooner: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"moldau.failover.on.connection.loss": str(is_sooner).lower()}
    async with broker_world(settings) as world:
        await world.create_topic("t")
        doubt = frozenset({0})
        monkeypatch.setattr(world.broker.fetching, "leaders_in_doubt", lambda: doubt)
        for request in (about("t"), MetadataRequest(topics=None)):
            response = await world.ask(request, NEWEST)
            (partition,) = only_topic(response).partitions
            found = partition.error_code, partition.leader_id
            gone, here = (ErrorCode.LEADER_NOT_AVAILABLE, -1), (ErrorCode.NONE, 0)
            assert found == (gone if is_sooner else here)
            # It is registered, and may be back the next moment.
            assert [broker.node_id for broker in response.brokers] == [0]


@pytest.mark.parametrize(
    ("version", "code"),
    [(5, ErrorCode.LEADER_NOT_AVAILABLE), (6, ErrorCode.LISTENER_NOT_FOUND)],
)
async def test_a_leader_that_does_not_listen_here_is_not_named(
    world: World, version: int, code: ErrorCode
) -> None:
    with_two_brokers(world, is_live=True)
    response = await world.ask(about("x"), version)
    assert [broker.node_id for broker in response.brokers] == [0]
    assert only_topic(response).partitions[0].error_code == code


async def test_other_listeners_have_other_addresses(world: World) -> None:
    with_two_brokers(world, is_live=True)
    client = replace(CLIENT, listener="OTHER")
    response = await world.ask(about("x"), NEWEST, client=client)
    assert [(broker.node_id, broker.host) for broker in response.brokers] == [(7, "seven")]


async def test_version_0_leaves_out_replicas_that_are_away(world: World) -> None:
    with_two_brokers(world, is_live=False)
    _, led_here = only_topic(await world.ask(about("x"), 0)).partitions
    assert led_here.error_code == ErrorCode.REPLICA_NOT_AVAILABLE
    assert (led_here.leader_id, led_here.replica_nodes) == (0, [0])
    _, led_here = only_topic(await world.ask(about("x"), 1)).partitions
    assert (led_here.error_code, led_here.replica_nodes) == (ErrorCode.NONE, [0, 7])


async def test_a_topic_made_by_asking_for_it_is_logged_once(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "moldau.broker.topics.tree")
    await asyncio.gather(*(world.ask(about("new"), 12) for _ in range(2)))
    cause = "since client 'test' at 10.0.0.9 used it (auto.create.topics.enable)"
    shape = "1 partitions, replication factor 1"
    assert caplog.messages == [f"created topic new: {shape}, {cause}"]
