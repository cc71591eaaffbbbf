"""LeaderAndIsr: roles in every version, epochs that are refused."""

from collections.abc import AsyncIterator

import pytest

from moldau.coordination.layout.configs import ConfigEntity, encode_config
from moldau.coordination.tree import Create
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from moldau.protocol.primitives import NO_UUID
from unit.broker.world import START_MS, World, broker_world

CONTROLLER_EPOCH = 5
ALL_VERSIONS = range(8)
TOPIC_ID = b"a topic id......"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with broker_world() as world:
        yield world


def request(
    version: int,
    *,
    leader: int = 0,
    epoch: int = 3,
    replicas: tuple[int, ...] = (0, 1),
    controller_epoch: int = CONTROLLER_EPOCH,
    broker_epoch: int = -1,
    topic_id: bytes = TOPIC_ID,
) -> LeaderAndIsrRequest:
    state = LeaderAndIsrPartitionState(
        topic_name="t" if version < 2 else "",
        partition_index=0,
        controller_epoch=controller_epoch,
        leader=leader,
        leader_epoch=epoch,
        isr=[leader],
        partition_epoch=0,
        replicas=list(replicas),
        is_new=True,
    )
    made = LeaderAndIsrRequest(
        controller_id=0,
        controller_epoch=controller_epoch,
        broker_epoch=broker_epoch,
        live_leaders=[],
    )
    if version < 2:
        made.ungrouped_partition_states = [state]
    else:
        topic = LeaderAndIsrTopicState(
            topic_name="t", topic_id=topic_id if version >= 5 else NO_UUID, partition_states=[state]
        )
        made.topic_states = [topic]
    return made


def error_of(response: LeaderAndIsrResponse, version: int) -> int:
    """The error of the only partition."""
    assert response.error_code == ErrorCode.NONE
    if version < 5:
        (error,) = response.partition_errors
        assert error.topic_name == "t"
        return error.error_code
    (topic,) = response.topics
    assert topic.topic_id == TOPIC_ID
    (error,) = topic.partition_errors
    return error.error_code


@pytest.mark.parametrize("version", ALL_VERSIONS)
async def test_every_version_makes_a_leader_or_a_follower(world: World, version: int) -> None:
    response = await world.ask(request(version), version)
    assert error_of(response, version) == ErrorCode.NONE
    partition = world.partition("t")
    assert (partition.state.leader_epoch, partition.state.replicas) == (3, (0, 1))
    assert partition.log.topic_id == (TOPIC_ID if version >= 5 else None)
    response = await world.ask(request(version, leader=1, epoch=4), version)
    assert error_of(response, version) == ErrorCode.NONE
    with pytest.raises(KafkaError):
        world.partition("t")


@pytest.mark.parametrize("version", ALL_VERSIONS)
async def test_an_epoch_that_is_known_is_refused_for_its_partition(
    world: World, version: int
) -> None:
    await world.ask(request(version), version)
    response = await world.ask(request(version, leader=1, epoch=3), version)
    assert error_of(response, version) == ErrorCode.STALE_CONTROLLER_EPOCH
    assert world.partition("t").is_leader


@pytest.mark.parametrize("version", ALL_VERSIONS)
async def test_a_controller_of_the_past_is_refused(world: World, version: int) -> None:
    await world.ask(request(version), version)
    late = request(version, epoch=9, controller_epoch=CONTROLLER_EPOCH - 1)
    response = await world.ask(late, version)
    assert response.error_code == ErrorCode.STALE_CONTROLLER_EPOCH


async def test_a_request_for_an_earlier_life_is_refused(world: World) -> None:
    epoch = world.broker.registration.epoch
    response = await world.ask(request(7, broker_epoch=epoch - 1), 7)
    assert response.error_code == ErrorCode.STALE_BROKER_EPOCH
    response = await world.ask(request(7, broker_epoch=epoch), 7)
    assert error_of(response, 7) == ErrorCode.NONE


async def test_the_id_of_another_topic_is_refused(world: World) -> None:
    await world.ask(request(6, topic_id=b"another topic id"), 6)
    response = await world.ask(request(6, epoch=4), 6)
    assert error_of(response, 6) == ErrorCode.INCONSISTENT_TOPIC_ID


async def test_a_partition_that_is_none_of_ours_is_refused(world: World) -> None:
    response = await world.ask(request(7, leader=1, replicas=(1, 2)), 7)
    assert error_of(response, 7) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_many_topics_are_taken_in_parts(world: World) -> None:
    whole = request(7)
    (first,) = whole.topic_states
    whole.topic_states = [
        LeaderAndIsrTopicState(
            topic_name=f"t{number}",
            topic_id=number.to_bytes(16, "big"),
            partition_states=first.partition_states,
        )
        for number in range(1, 51)
    ]
    response = await world.ask(whole, 7)
    codes = [one.error_code for topic in response.topics for one in topic.partition_errors]
    assert codes == [ErrorCode.NONE] * 50
    assert world.broker.replicas.find(TopicPartition("t50", 0)) is not None


async def test_a_log_is_made_with_its_topics_settings(world: World) -> None:
    await world.create_topic("t", overrides={"segment.bytes": "4000"})
    assert world.partition("t").log.config.segment_bytes == 4000


@pytest.mark.parametrize("version", ALL_VERSIONS)
async def test_a_log_that_nobody_knew_gets_its_topics_settings(world: World, version: int) -> None:
    name = TopicPartition("t", 0)
    log = world.broker.logs.create(name, topic_id=None, is_new=True, now_ms=START_MS)
    assert log.config.cleanup_policy == ()
    data = encode_config({"cleanup.policy": "compact"})
    await world.tree.create(Create(ConfigEntity.topic("t").path, data))
    await world.ask(request(version), version)
    assert world.partition("t").log is log
    assert log.config.is_compacted
