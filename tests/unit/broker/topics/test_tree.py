"""Topics in the tree: what may be created, what becomes of it, who wins a race."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moldau.broker.topics.tree import check_name, metric_name
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.configs import ConfigEntity, decode_config, encode_config
from moldau.coordination.tree import BadVersion, Create
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.primitives import NO_UUID
from unit.broker.world import World, broker_world


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        yield world


def code_of(error: pytest.ExceptionInfo[KafkaError]) -> ErrorCode:
    return error.value.code


@pytest.mark.parametrize("name", ["a", "A.b_c-9", "...", "x" * 249])
def test_legal_names_are_accepted(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "ä", "x" * 250])
def test_illegal_names_are_refused(name: str) -> None:
    with pytest.raises(KafkaError) as refused:
        check_name(name)
    assert code_of(refused) == ErrorCode.INVALID_TOPIC_EXCEPTION


async def test_names_that_metrics_cannot_tell_apart_are_refused(world: World) -> None:
    await world.create_topic("a.b")
    assert metric_name("a.b") == metric_name("a_b")
    with pytest.raises(KafkaError) as refused:
        await world.broker.topics.create("a_b", {0: (0,)}, {})
    assert code_of(refused) == ErrorCode.INVALID_TOPIC_EXCEPTION


async def test_a_topic_stands_in_the_tree_with_its_settings(world: World) -> None:
    topic_id = await world.create_topic("t", 2, {"retention.ms": "5"})
    known, version = await world.broker.topics.assignment("t")
    assert {number: one.replicas for number, one in known.partitions.items()} == {0: (0,), 1: (0,)}
    assert version == 0
    node = await world.tree.get(ConfigEntity.topic("t").path)
    assert decode_config(node.data) == {"retention.ms": "5"}
    assert world.broker.metadata.image.topics["t"].topic_id == topic_id
    assert world.partition("t").log.topic_id == topic_id


async def test_of_two_who_create_at_once_one_wins_with_its_own_settings(world: World) -> None:
    topics = world.broker.topics
    outcomes = await asyncio.gather(
        topics.create("t", {0: (0,)}, {"retention.ms": "1"}),
        topics.create("t", {0: (0,)}, {"retention.ms": "2"}),
        return_exceptions=True,
    )
    winners = [one for one in outcomes if isinstance(one, bytes)]
    losers = [one for one in outcomes if isinstance(one, KafkaError)]
    assert (len(winners), [one.code for one in losers]) == (1, [ErrorCode.TOPIC_ALREADY_EXISTS])
    node = await world.tree.get(ConfigEntity.topic("t").path)
    assert decode_config(node.data) == {"retention.ms": str(1 + outcomes.index(winners[0]))}


async def test_settings_that_a_deleted_topic_left_behind_are_not_inherited(world: World) -> None:
    path = ConfigEntity.topic("t").path
    await world.tree.create(Create(path, encode_config({"retention.ms": "1"})))
    await world.create_topic("t", overrides={"segment.bytes": "4000"})
    node = await world.tree.get(path)
    assert decode_config(node.data) == {"segment.bytes": "4000"}


async def test_a_topic_that_exists_is_not_created_again(world: World) -> None:
    await world.create_topic("t")
    with pytest.raises(KafkaError) as refused:
        await world.broker.topics.create("t", {0: (0,)}, {})
    assert code_of(refused) == ErrorCode.TOPIC_ALREADY_EXISTS


async def test_added_partitions_get_a_leader_and_a_stale_view_adds_none(world: World) -> None:
    await world.create_topic("t")
    topics = world.broker.topics
    known, version = await topics.assignment("t")
    await topics.add_partitions("t", known, {1: (0,)}, version=version)
    assert await topics.until_led("t", 2, timeout_s=5)
    with pytest.raises(BadVersion):
        await topics.add_partitions("t", known, {1: (0,)}, version=version)
    with pytest.raises(KafkaError) as refused:
        await topics.assignment("u")
    assert code_of(refused) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_a_deleted_topic_is_gone_and_can_be_made_anew(world: World) -> None:
    first = await world.create_topic("t")
    world.append("t", b"a")
    await world.broker.topics.delete("t")
    assert await world.broker.topics.until_all_gone(["t"], timeout_s=5) == []
    while await world.tree.exists(topic_nodes.topic_path("t")) is not None:
        await asyncio.sleep(0)
    assert await world.create_topic("t") != first
    assert world.partition("t").log.log_end_offset == 0


async def test_deletion_may_be_asked_for_twice_but_not_of_nothing(world: World) -> None:
    await world.create_topic("t")
    await asyncio.gather(*(world.broker.topics.delete("t") for _ in range(2)))
    with pytest.raises(KafkaError) as refused:
        await world.broker.topics.delete("u")
    assert code_of(refused) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_waiting_ends_with_those_who_are_not_ready(world: World) -> None:
    await world.create_topic("t")
    topics = world.broker.topics
    assert await topics.until_all_led({"t": 1, "u": 1}, timeout_s=0.01) == ["u"]
    assert not await topics.until_led("t", 2, timeout_s=0.01)
    assert await topics.until_all_gone(["t", "u"], timeout_s=0.01) == ["t"]


@pytest.mark.parametrize("replicas", [{0: ()}, {0: (0,), 1: (0, 0)}, {0: (0, 0)}, {0: (5,)}])
async def test_assignments_that_cannot_be_are_refused(
    world: World, replicas: dict[int, tuple[int, ...]]
) -> None:
    with pytest.raises(KafkaError) as refused:
        world.broker.topics.check_assignment(replicas)
    assert code_of(refused) == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    world.broker.topics.check_assignment({0: (0,), 1: (0,)})


async def test_marks_are_seen(world: World) -> None:
    assert not await world.broker.topics.is_marked_for_deletion("t")
    await world.tree.create(Create(partition_lists.delete_topic_path("t")))
    assert await world.broker.topics.is_marked_for_deletion("t")


async def test_topics_have_no_ids_where_brokers_know_none() -> None:
    async with broker_world({"inter.broker.protocol.version": "2.7"}) as world:
        assert await world.create_topic("t") == NO_UUID
        node = await world.tree.get(topic_nodes.topic_path("t"))
        assert topic_nodes.decode_topic(node.data).topic_id is None
        world.append("t", b"v")
