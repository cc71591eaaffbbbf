"""CreatePartitions: topics grow, and never shrink."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from unit.broker.world import World

NEWEST = 3


def wish(
    count: int, assignments: list[list[int]] | None = None, name: str = "t"
) -> CreatePartitionsTopic:
    given = None
    if assignments is not None:
        given = [CreatePartitionsAssignment(broker_ids=brokers) for brokers in assignments]
    return CreatePartitionsTopic(name=name, count=count, assignments=given)


async def grow(
    world: World,
    *topics: CreatePartitionsTopic,
    version: int = NEWEST,
    timeout_ms: int = 5000,
    validate_only: bool = False,
) -> list[int]:
    request = CreatePartitionsRequest(
        topics=list(topics), timeout_ms=timeout_ms, validate_only=validate_only
    )
    return [result.error_code for result in (await world.ask(request, version)).results]


def partition_count(world: World) -> int:
    return len(world.broker.metadata.image.topics["t"].partitions)


@pytest.mark.parametrize("version", range(NEWEST + 1))
async def test_new_partitions_are_led_when_the_answer_comes(world: World, version: int) -> None:
    await world.create_topic("t")
    world.append("t", b"kept")
    assert await grow(world, wish(3), version=version) == [ErrorCode.NONE]
    assert partition_count(world) == 3
    assert world.partition("t", 2).is_leader
    assert world.partition("t", 0).log.log_end_offset == 1


async def test_new_partitions_go_where_the_assignment_says(world: World) -> None:
    await world.create_topic("t")
    assert await grow(world, wish(3, [[0], [0]])) == [ErrorCode.NONE]
    assert partition_count(world) == 3


async def test_what_is_only_validated_does_not_grow(world: World) -> None:
    await world.create_topic("t")
    assert await grow(world, wish(3), validate_only=True) == [ErrorCode.NONE]
    assert partition_count(world) == 1


@pytest.mark.parametrize(
    ("topic", "code"),
    [
        (wish(2), ErrorCode.INVALID_PARTITIONS),
        (wish(1), ErrorCode.INVALID_PARTITIONS),
        (wish(1_000_000), ErrorCode.INVALID_PARTITIONS),
        (wish(4, [[0]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (wish(3, [[9]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (wish(3, [[0, 0]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (wish(3, [[]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (wish(3, name="none"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
async def test_a_bad_wish_is_refused(
    world: World, topic: CreatePartitionsTopic, code: ErrorCode
) -> None:
    await world.create_topic("t", 2)
    assert await grow(world, topic) == [code]
    assert partition_count(world) == 2


async def test_a_topic_that_comes_twice_is_refused_once(world: World) -> None:
    await world.create_topic("t")
    assert await grow(world, wish(2), wish(3)) == [ErrorCode.INVALID_REQUEST]


async def test_a_topic_that_is_about_to_go_does_not_grow(world: World) -> None:
    await world.create_topic("t")
    world.broker.controller._due.clear()
    await world.broker.topics.delete("t")
    codes = await grow(world, wish(2), timeout_ms=10)
    assert codes in ([ErrorCode.INVALID_TOPIC_EXCEPTION], [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION])


async def test_without_time_to_wait_the_topic_grows_all_the_same(world: World) -> None:
    await world.create_topic("t")
    assert await grow(world, wish(2), timeout_ms=0) == [ErrorCode.REQUEST_TIMED_OUT]
    assert await world.broker.topics.until_led("t", 2, timeout_s=5)


async def test_only_the_controller_lets_topics_grow(world: World) -> None:
    await world.create_topic("t")
    world.broker.controller._term = None
    assert await grow(world, wish(2)) == [ErrorCode.NOT_CONTROLLER]


@pytest.mark.parametrize("name", ["", "/", "a//b", "t/partitions", "..", "ä"])
async def test_a_name_that_no_topic_can_have_is_unknown(world: World, name: str) -> None:
    assert await grow(world, wish(3, name=name)) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


async def test_growth_is_logged_with_who_asked_and_a_check_is_not(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.create_topic("t")
    caplog.set_level("INFO", "moldau.broker.topics.growth")
    await grow(world, wish(2), validate_only=True)
    await grow(world, wish(3))
    assert caplog.messages == [
        "topic t grows from 1 to 3 partitions, asked for by client 'test' at 10.0.0.9"
    ]
