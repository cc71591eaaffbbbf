"""Requests that change topics, beyond what their client may change."""

from collections.abc import AsyncIterator

import pytest

from moldau.broker.context import Client
from moldau.broker.settings.client_quotas import QuotaChange
from moldau.errors import ErrorCode
from moldau.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from moldau.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.protocol.primitives import NO_UUID
from unit.broker.world import World, broker_world

EXCEEDED = ErrorCode.THROTTLING_QUOTA_EXCEEDED


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world({"num.partitions": "4"}) as world:
        rate = QuotaChange("controller_mutation_rate", 1.0)
        await world.broker.client_quotas.alter({"user": None}, [rate], is_only_checked=False)
        yield world


def create(*names: str, count: int = 4, validate_only: bool = False) -> CreateTopicsRequest:
    topics = [
        CreatableTopic(
            name=name, num_partitions=count, replication_factor=1, assignments=[], configs=[]
        )
        for name in names
    ]
    return CreateTopicsRequest(topics=topics, timeout_ms=5000, validate_only=validate_only)


def grow(count: int, *, validate_only: bool = False) -> CreatePartitionsRequest:
    topic = CreatePartitionsTopic(name="t", count=count, assignments=None)
    return CreatePartitionsRequest(topics=[topic], timeout_ms=5000, validate_only=validate_only)


async def spend(world: World, count: int) -> None:
    """Change so many partitions before."""
    context_user = "ANONYMOUS"
    bucket = world.broker.quotas.mutation.of(context_user, "test", world.clock.monotonic_ms())
    assert bucket is not None
    bucket.take(count, world.clock.monotonic_ms())


async def test_topics_are_created_until_there_is_nothing_left(world: World) -> None:
    muted: list[int] = []
    client = Client("PLAINTEXT", "10.0.0.9", "10.0.0.1", 9092)
    client.mute = muted.append
    response = await world.ask(create("a", "b", "c", "d", "e"), 7, client=client)
    codes = {one.name: one.error_code for one in response.topics}
    # 11 partitions are there to take, and the last topic may take more than is left.
    assert codes == {"a": 0, "b": 0, "c": 0, "d": EXCEEDED, "e": EXCEEDED}
    assert response.topics[3].error_message is None
    assert (response.throttle_time_ms, muted) == (1000, [1000])
    assert set(world.broker.metadata.image.topics) == {"a", "b", "c"}
    world.clock.time_ms += 1000
    assert (await world.ask(create("d"), 7)).topics[0].error_code == 0


@pytest.mark.parametrize("version", [2, 5])
async def test_older_requests_are_done_and_wait_longer(world: World, version: int) -> None:
    await spend(world, 11)
    response = await world.ask(create("a", "b"), version)
    assert [one.error_code for one in response.topics] == [0, 0]
    assert response.throttle_time_ms == 8000


async def test_what_is_only_validated_or_fails_costs_nothing(world: World) -> None:
    await world.ask(create("a", count=100, validate_only=True), 7)
    await world.ask(create("a/b", count=100), 7)
    bucket = world.broker.quotas.mutation.of("ANONYMOUS", "test", world.clock.monotonic_ms())
    assert bucket is not None
    assert bucket.tokens(world.clock.monotonic_ms()) == 11


@pytest.mark.parametrize(("version", "code", "wait_ms"), [(3, EXCEEDED, 1000), (2, 0, 4000)])
async def test_partitions_are_added_as_far_as_the_quota_goes(
    world: World, version: int, code: int, wait_ms: int
) -> None:
    await world.create_topic("t", 2)
    await spend(world, 12)
    assert (await world.ask(grow(5, validate_only=True), version)).throttle_time_ms == 0
    response = await world.ask(grow(5), version)
    assert [one.error_code for one in response.results] == [code]
    assert response.results[0].error_message is None
    assert response.throttle_time_ms == wait_ms
    assert len(world.broker.metadata.image.topics["t"].partitions) == (2 if code else 5)


@pytest.mark.parametrize(("version", "code", "wait_ms"), [(6, EXCEEDED, 1000), (4, 0, 4000)])
async def test_topics_are_deleted_as_far_as_the_quota_goes(
    world: World, version: int, code: int, wait_ms: int
) -> None:
    await world.create_topic("t", 3)
    await spend(world, 12)
    request = DeleteTopicsRequest(topic_names=["t"], topics=[], timeout_ms=5000)
    if version >= 6:
        named = DeleteTopicState(name="t", topic_id=NO_UUID)
        request = DeleteTopicsRequest(topic_names=[], topics=[named], timeout_ms=5000)
    response = await world.ask(request, version)
    assert [one.error_code for one in response.responses] == [code]
    assert response.throttle_time_ms == wait_ms
    assert ("t" in world.broker.metadata.image.topics) == bool(code)


async def test_a_topic_that_may_not_be_created_by_asking_for_it_is_unknown(world: World) -> None:
    async def ask(name: str) -> int:
        topics = [MetadataRequestTopic(name=name)]
        response = await world.ask(MetadataRequest(topics=topics), 9)
        code: int = response.topics[0].error_code
        return code

    assert await ask("a") == ErrorCode.NONE
    await spend(world, 8)
    assert await ask("b") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert set(world.broker.metadata.image.topics) == {"a"}
