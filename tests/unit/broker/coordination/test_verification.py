"""Asking another broker's coordinator; what a local one answers is tested with Produce."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moldau.broker.coordination.verification import Verifier, Writer
from moldau.broker.topics.internal import TRANSACTION_STATE
from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.errors import ErrorCode, KafkaError
from moldau.log.verification import Guard
from moldau.metadata.cache import MetadataCache
from moldau.metadata.image import ClusterImage, PartitionImage, TopicImage
from moldau.model import TopicPartition
from moldau.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from unit.broker.transaction_client import SETTINGS, begin
from unit.broker.world import World, broker_world
from unit.coordinator.test_shards import turns

PRODUCER = ProducerIdentity(7, 0)
OTHER_BROKER = 5


class Coordinator:
    """Another broker, which answers when the test says so."""

    def __init__(self) -> None:
        self.asked: list[list[TopicPartition]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.failure: KafkaError | None = None
        self.refused: dict[TopicPartition, ErrorCode] = {}

    async def send(self, broker_id: int, request: AddPartitionsToTxnRequest) -> object:
        assert broker_id == OTHER_BROKER
        (transaction,) = request.transactions
        assert transaction.verify_only
        self.asked.append(
            [
                TopicPartition(topic.name, number)
                for topic in transaction.topics
                for number in topic.partitions
            ]
        )
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        topics = [
            AddPartitionsToTxnTopicResult(
                name=topic.name,
                results_by_partition=[
                    AddPartitionsToTxnPartitionResult(
                        partition_index=number,
                        partition_error_code=self.refused.get(
                            TopicPartition(topic.name, number), ErrorCode.NONE
                        ),
                    )
                    for number in topic.partitions
                ],
            )
            for topic in transaction.topics
        ]
        result = AddPartitionsToTxnResult(
            transactional_id=transaction.transactional_id, topic_results=topics
        )
        return AddPartitionsToTxnResponse(throttle_time_ms=0, results_by_transaction=[result])


class Setup:
    """A leader of two partitions, whose producers' coordinator is elsewhere."""

    def __init__(self, world: World, leader: int = OTHER_BROKER) -> None:
        self.world = world
        self.coordinator = Coordinator()
        metadata = MetadataCache()
        partition = PartitionImage(leader, 0, (leader,), (leader,))
        topic = TopicImage(TRANSACTION_STATE, bytes(16), {0: partition})
        metadata.image = ClusterImage(topics={TRANSACTION_STATE: topic})
        self.verifier = Verifier(
            world.broker.id,
            world.broker.transactions,
            metadata,
            self.coordinator.send,
            is_enabled=lambda: True,
        )

    async def guard(self, number: int = 0, producer: ProducerIdentity = PRODUCER) -> Guard | None:
        writer = Writer("tx", producer, 0)
        return await self.verifier.guard(self.world.partition("t", number), writer, now_ms=0)


@pytest.fixture
async def setup() -> AsyncIterator[Setup]:
    async with broker_world(SETTINGS) as world:
        await begin(world)
        yield Setup(world)


async def code_of(setup: Setup, number: int = 0) -> ErrorCode:
    with pytest.raises(KafkaError) as raised:
        await setup.guard(number)
    return raised.value.code


async def test_the_guard_is_the_one_of_the_question(setup: Setup) -> None:
    guard = await setup.guard()
    assert setup.world.partition("t").log.producers.verifications.holds(7, guard)
    assert setup.coordinator.asked == [[TopicPartition("t", 0)]]


async def test_what_the_coordinator_refuses_is_raised(setup: Setup) -> None:
    setup.coordinator.refused = {TopicPartition("t", 0): ErrorCode.TRANSACTION_ABORTABLE}
    assert await code_of(setup) is ErrorCode.TRANSACTION_ABORTABLE
    setup.coordinator.failure = KafkaError(ErrorCode.NETWORK_EXCEPTION)
    assert await code_of(setup) is ErrorCode.NETWORK_EXCEPTION


async def test_a_coordinator_that_cannot_be_asked_in_this_way_is_trusted(setup: Setup) -> None:
    setup.coordinator.failure = KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    assert await setup.guard() is not None


async def test_questions_that_come_meanwhile_are_asked_together(setup: Setup) -> None:
    setup.coordinator.gate.clear()
    questions = [asyncio.ensure_future(setup.guard(number)) for number in (0, 1, 0)]
    await turns()
    assert len(setup.coordinator.asked) == 1
    setup.coordinator.gate.set()
    first, second, third = await asyncio.gather(*questions)
    assert setup.coordinator.asked == [
        [TopicPartition("t", 0)],
        [TopicPartition("t", 1), TopicPartition("t", 0)],
    ]
    assert first is third
    assert second is not first


async def test_questions_about_other_producers_do_not_wait(setup: Setup) -> None:
    setup.coordinator.gate.clear()
    questions = [
        asyncio.ensure_future(setup.guard(0, ProducerIdentity(producer_id, 0)))
        for producer_id in (7, 8)
    ]
    await turns()
    assert len(setup.coordinator.asked) == 2
    setup.coordinator.gate.set()
    await asyncio.gather(*questions)


async def test_a_connection_that_goes_away_takes_no_answer_with_it(setup: Setup) -> None:
    setup.coordinator.gate.clear()
    asking, waiting, joining = (asyncio.ensure_future(setup.guard(number)) for number in (0, 1, 0))
    await turns()
    waiting.cancel()
    await turns()
    setup.coordinator.gate.set()
    assert await asking is not None
    with pytest.raises(KafkaError) as raised:
        await joining
    assert raised.value.code is ErrorCode.NETWORK_EXCEPTION, "a producer tries again"
    assert await setup.guard(1) is not None


async def test_without_a_coordinator_nobody_can_be_asked(setup: Setup) -> None:
    nobody = Setup(setup.world, leader=-1)
    assert await code_of(nobody) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert not nobody.coordinator.asked
