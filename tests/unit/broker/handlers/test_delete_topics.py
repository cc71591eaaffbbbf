"""DeleteTopics: by name and by id, and what cannot be deleted."""

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from moldau.protocol.primitives import NO_UUID
from unit.broker.world import World, broker_world

NEWEST = 6


async def delete(
    world: World,
    *names: str,
    topic_ids: tuple[bytes, ...] = (),
    version: int = NEWEST,
    timeout_ms: int = 5000,
) -> list[DeletableTopicResult]:
    states = [DeleteTopicState(name=name, topic_id=NO_UUID) for name in names]
    states += [DeleteTopicState(name=None, topic_id=topic_id) for topic_id in topic_ids]
    request = DeleteTopicsRequest(
        topics=states if version >= 6 else [],
        topic_names=list(names) if version < 6 else [],
        timeout_ms=timeout_ms,
    )
    responses: list[DeletableTopicResult] = (await world.ask(request, version)).responses
    return responses


@pytest.mark.parametrize("version", range(NEWEST + 1))
async def test_a_topic_is_gone_when_the_answer_comes(world: World, version: int) -> None:
    await world.create_topic("t", 2)
    (result,) = await delete(world, "t", version=version)
    assert (result.name, result.error_code) == ("t", ErrorCode.NONE)
    assert "t" not in world.broker.metadata.image.topics
    assert not list(world.broker.logs)


async def test_a_topic_is_deleted_by_its_id(world: World) -> None:
    topic_id = await world.create_topic("t")
    (result,) = await delete(world, topic_ids=(topic_id,))
    assert (result.name, result.topic_id, result.error_code) == ("t", topic_id, ErrorCode.NONE)
    assert "t" not in world.broker.metadata.image.topics


async def test_a_deleted_topic_can_be_created_again_with_another_id(world: World) -> None:
    first_id = await world.create_topic("t", 1, {"retention.ms": "1"})
    await delete(world, "t")
    assert await world.create_topic("t") != first_id
    assert world.partition("t").log.config.retention_ms != 1


async def test_what_is_not_there_cannot_be_deleted(world: World) -> None:
    by_name, by_id = await delete(world, "none", topic_ids=(b"x" * 16,))
    assert by_name.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert (by_id.name, by_id.error_code) == (None, ErrorCode.UNKNOWN_TOPIC_ID)


async def test_a_name_and_an_id_together_are_one_too_many(world: World) -> None:
    topic_id = await world.create_topic("t")
    state = DeleteTopicState(name="t", topic_id=topic_id)
    request = DeleteTopicsRequest(topics=[state], topic_names=[], timeout_ms=100)
    (result,) = (await world.ask(request, NEWEST)).responses
    assert result.error_code == ErrorCode.INVALID_REQUEST
    assert "t" in world.broker.metadata.image.topics


@pytest.mark.parametrize(
    ("version", "code"),
    [(2, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED)],
)
async def test_where_deletion_is_off_every_topic_is_refused(version: int, code: ErrorCode) -> None:
    async with broker_world({"delete.topic.enable": "false"}) as world:
        await world.create_topic("t")
        (result,) = await delete(world, "t", version=version)
        assert result.error_code == code
        assert "t" in world.broker.metadata.image.topics


async def test_without_time_to_wait_the_topic_goes_all_the_same(world: World) -> None:
    await world.create_topic("t")
    (result,) = await delete(world, "t", timeout_ms=0)
    assert result.error_code in (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT)
    assert await world.broker.topics.until_all_gone(["t"], timeout_s=5) == []


async def test_a_deletion_is_logged_with_who_asked_and_a_refusal_is_not(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.create_topic("t")
    caplog.set_level("INFO", "moldau.broker.topics.tree")
    await delete(world, "t")
    await delete(world, "t")
    assert caplog.messages == ["deleting topic t, asked for by client 'test' at 10.0.0.9"]
