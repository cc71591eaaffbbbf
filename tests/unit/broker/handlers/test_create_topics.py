"""CreateTopics: what becomes a topic, and with which code everything else is refused."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from moldau.protocol.primitives import NO_UUID
from unit.broker.world import World, broker_world

NEWEST = 7


def topic(
    name: str = "t",
    partitions: int = 1,
    replication_factor: int = 1,
    *,
    assignments: dict[int, list[int]] | None = None,
    configs: dict[str, str | None] | None = None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication_factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=number, broker_ids=brokers)
            for number, brokers in (assignments or {}).items()
        ],
        configs=[
            CreatableTopicConfig(name=name, value=value) for name, value in (configs or {}).items()
        ],
    )


async def create(
    world: World,
    *topics: CreatableTopic,
    version: int = NEWEST,
    timeout_ms: int = 5000,
    validate_only: bool = False,
) -> list[CreatableTopicResult]:
    request = CreateTopicsRequest(
        topics=list(topics), timeout_ms=timeout_ms, validate_only=validate_only
    )
    response = await world.ask(request, version)
    results: list[CreatableTopicResult] = response.topics
    return results


@pytest.mark.parametrize("version", range(NEWEST + 1))
async def test_a_created_topic_is_led_when_the_answer_comes(world: World, version: int) -> None:
    (result,) = await create(world, topic("t", 3), version=version)
    assert result.error_code == ErrorCode.NONE
    created = world.broker.metadata.image.topics["t"]
    assert [one.leader for one in created.partitions.values()] == [world.broker.id] * 3
    assert result.topic_id == (created.topic_id if version >= 7 else NO_UUID)


async def test_the_answer_tells_the_shape_and_the_settings_of_a_topic(world: World) -> None:
    (result,) = await create(world, topic("t", 2, configs={"retention.ms": "77"}))
    assert (result.num_partitions, result.replication_factor) == (2, 1)
    assert result.configs is not None
    settings = {config.name: (config.value, config.config_source) for config in result.configs}
    assert settings["retention.ms"] == ("77", 1)
    assert settings["segment.bytes"] == ("1073741824", 5)


async def test_minus_one_stands_for_the_settings_of_the_broker() -> None:
    async with broker_world({"num.partitions": "4"}) as world:
        (result,) = await create(world, topic("t", -1, -1))
        assert (result.num_partitions, result.replication_factor) == (4, 1)


async def test_what_is_only_validated_is_not_created(world: World) -> None:
    (result,) = await create(world, topic("t", 2), validate_only=True)
    assert (result.error_code, result.num_partitions) == (ErrorCode.NONE, 2)
    assert not world.broker.metadata.image.topics


async def test_settings_of_a_new_topic_are_those_of_its_log(world: World) -> None:
    await create(world, topic("t", configs={"segment.bytes": "20000"}))
    assert world.partition("t").log.config.segment_bytes == 20_000


async def test_an_assignment_says_where_the_partitions_go(world: World) -> None:
    (result,) = await create(world, topic("t", -1, -1, assignments={1: [0], 0: [0]}))
    assert (result.error_code, result.num_partitions) == (ErrorCode.NONE, 2)


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 250, "ü", "a/b"])
async def test_a_bad_name_is_refused(world: World, name: str) -> None:
    (result,) = await create(world, topic(name))
    assert result.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (topic("t", 0), ErrorCode.INVALID_PARTITIONS),
        (topic("t", -2), ErrorCode.INVALID_PARTITIONS),
        (topic("t", 1_000_000), ErrorCode.INVALID_PARTITIONS),
        (topic("t", 1, 0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic("t", 1, 4), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic("t", 1, 1, assignments={0: [0]}), ErrorCode.INVALID_REQUEST),
        (topic("t", -1, -1, assignments={0: [9]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic("t", -1, -1, assignments={0: [0, 0]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic("t", -1, -1, assignments={0: []}), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic("t", -1, -1, assignments={0: [0], 2: [0]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic("t", configs={"no.such": "1"}), ErrorCode.INVALID_CONFIG),
        (topic("t", configs={"retention.ms": "long"}), ErrorCode.INVALID_CONFIG),
        (topic("t", configs={"retention.ms": None}), ErrorCode.INVALID_CONFIG),
        (topic("__cluster_metadata"), ErrorCode.INVALID_REQUEST),
    ],
)
async def test_a_bad_wish_is_refused_and_nothing_is_created(
    world: World, wanted: CreatableTopic, code: ErrorCode
) -> None:
    (result,) = await create(world, wanted)
    assert result.error_code == code
    assert result.error_message
    assert (result.topic_id, result.num_partitions) == (NO_UUID, -1)
    assert not world.broker.metadata.image.topics


async def test_a_topic_that_exists_is_not_created_again(world: World) -> None:
    await create(world, topic("t"))
    (result,) = await create(world, topic("t"))
    assert result.error_code == ErrorCode.TOPIC_ALREADY_EXISTS


async def test_names_that_are_one_in_metrics_collide(world: World) -> None:
    await create(world, topic("a.b"))
    later, first, second = await create(world, topic("a_b"), topic("x.y"), topic("x_y"))
    assert later.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert first.error_code == ErrorCode.NONE
    assert second.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


async def test_one_bad_topic_does_not_keep_the_others_from_being_created(world: World) -> None:
    codes = [one.error_code for one in await create(world, topic("a/b"), topic("ok"))]
    assert codes == [ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.NONE]


async def test_a_name_that_comes_twice_is_refused_both_times(world: World) -> None:
    results = await create(world, topic("t"), topic("t"), topic("u"))
    codes = [result.error_code for result in results]
    assert codes == [ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST, ErrorCode.NONE]


async def test_without_time_to_wait_the_topic_is_created_all_the_same(world: World) -> None:
    (result,) = await create(world, topic("t"), timeout_ms=0)
    assert result.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert await world.broker.topics.until_led("t", 1, timeout_s=5)


async def test_only_the_controller_creates_topics(world: World) -> None:
    world.broker.controller._term = None
    (result,) = await create(world, topic("t"))
    assert result.error_code == ErrorCode.NOT_CONTROLLER


async def test_a_topic_of_many_partitions_is_created_whole(world: World) -> None:
    (result,) = await create(world, topic("t", 95))
    assert result.error_code == ErrorCode.NONE
    assert sorted(one.topic_partition.partition for one in world.broker.replicas) == list(range(95))


async def test_a_creation_is_logged_with_who_asked_and_a_refusal_is_not(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "moldau.broker.topics.tree")
    await create(world, topic("orders", 3))
    await create(world, topic("orders", 3))
    await create(world, topic("other"), validate_only=True)
    who = "client 'test' at 10.0.0.9"
    shape = "3 partitions, replication factor 1"
    assert caplog.messages == [f"created topic orders: {shape}, asked for by {who}"]
