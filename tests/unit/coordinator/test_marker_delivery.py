"""Markers on their way: to whom, how often, and when they are given up."""

import asyncio
from collections.abc import Awaitable

from moldau.coordinator.marker_delivery import NO_LEADER, MarkerDelivery, Outcome
from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from unit.coordinator.test_shards import turns

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
OUTCOME = Outcome(ProducerIdentity(7, 2), is_commit=True, coordinator_epoch=5)


class Brokers:
    """Leaders of partitions that answer as a test says, and note what they were asked."""

    def __init__(self, leaders: dict[TopicPartition, int]) -> None:
        self.leaders = leaders
        self.failures: list[ErrorCode | KafkaError] = []
        self.told: list[tuple[int, TopicPartition]] = []
        self.requests: list[WriteTxnMarkersRequest] = []
        self.gate: asyncio.Event | None = None

    async def send(self, broker_id: int, request: WriteTxnMarkersRequest) -> object:
        self.requests.append(request)
        if self.gate is not None:
            await self.gate.wait()
        code = ErrorCode.NONE
        if self.failures:
            failure = self.failures.pop(0)
            if isinstance(failure, KafkaError):
                raise failure
            code = failure
        results = [self._result(broker_id, marker, code) for marker in request.markers]
        return WriteTxnMarkersResponse(markers=results)

    def _result(
        self, broker_id: int, marker: WritableTxnMarker, code: ErrorCode
    ) -> WritableTxnMarkerResult:
        topics = []
        for topic in marker.topics:
            self.told += [
                (broker_id, TopicPartition(topic.name, number))
                for number in topic.partition_indexes
            ]
            partitions = [
                WritableTxnMarkerPartitionResult(partition_index=number, error_code=code)
                for number in topic.partition_indexes
            ]
            topics.append(WritableTxnMarkerTopicResult(name=topic.name, partitions=partitions))
        return WritableTxnMarkerResult(producer_id=marker.producer_id, topics=topics)

    def deliver(self, *partitions: TopicPartition, wanted: int = 100) -> Awaitable[bool]:
        asked = iter(range(wanted))
        delivery = MarkerDelivery(self.send, self.leaders.get, retry_s=0)
        return delivery.deliver(
            OUTCOME, partitions, is_wanted=lambda: next(asked, None) is not None
        )


async def test_every_leader_gets_one_request_for_its_partitions() -> None:
    brokers = Brokers({T0: 1, T1: 2, U0: 1})
    assert await brokers.deliver(T0, T1, U0)
    assert brokers.told == [(1, T0), (1, U0), (2, T1)]
    (marker,) = brokers.requests[0].markers
    assert (marker.producer_id, marker.producer_epoch) == (7, 2)
    assert (marker.transaction_result, marker.coordinator_epoch) == (True, 5)


async def test_a_transaction_without_partitions_is_told_to_nobody() -> None:
    brokers = Brokers({})
    assert await brokers.deliver()
    assert not brokers.requests


async def test_partitions_that_are_gone_are_left_out() -> None:
    brokers = Brokers({T0: 1})
    assert await brokers.deliver(T0, T1)
    assert brokers.told == [(1, T0)]


async def test_what_failed_is_tried_again_and_nothing_else() -> None:
    brokers = Brokers({T0: 1, T1: 2})
    brokers.failures = [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NONE]
    assert await brokers.deliver(T0, T1)
    assert brokers.told == [(1, T0), (2, T1), (1, T0)]


async def test_a_broker_that_cannot_be_reached_is_tried_again() -> None:
    brokers = Brokers({T0: 1})
    brokers.failures = [KafkaError(ErrorCode.NETWORK_EXCEPTION)]
    assert await brokers.deliver(T0)
    assert brokers.told == [(1, T0)]


async def test_a_partition_without_leader_is_waited_for() -> None:
    brokers = Brokers({T0: NO_LEADER})
    assert not await brokers.deliver(T0, wanted=3)
    assert not brokers.requests


async def test_who_is_fenced_gives_up() -> None:
    for code in (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED):
        brokers = Brokers({T0: 1})
        brokers.failures = [code]
        assert not await brokers.deliver(T0)
        assert len(brokers.requests) == 1


async def test_what_is_decided_meanwhile_goes_together() -> None:
    brokers = Brokers({T0: 1, T1: 2})
    brokers.gate = asyncio.Event()
    delivery = MarkerDelivery(brokers.send, brokers.leaders.get, retry_s=0)
    outcomes = [Outcome(ProducerIdentity(number, 0), number != 3, 5) for number in range(5)]
    async with asyncio.TaskGroup() as tasks:
        delivered = [
            tasks.create_task(delivery.deliver(each, [T0, T1], is_wanted=lambda: True))
            for each in outcomes
        ]
        await turns()
        assert len(brokers.requests) == 2, "one to each leader"
        brokers.gate.set()
    assert all(each.result() for each in delivered)
    sizes = [len(request.markers) for request in brokers.requests]
    assert sizes == [1, 1, 4, 4]
    results = [marker.transaction_result for marker in brokers.requests[2].markers]
    assert results == [True, True, False, True]


async def test_a_failure_is_everybodys_whose_marker_was_in_the_request() -> None:
    brokers = Brokers({T0: 1})
    brokers.failures = [ErrorCode.NONE, KafkaError(ErrorCode.NETWORK_EXCEPTION)]
    brokers.gate = asyncio.Event()
    delivery = MarkerDelivery(brokers.send, brokers.leaders.get, retry_s=0)
    async with asyncio.TaskGroup() as tasks:
        for number in range(3):
            outcome = Outcome(ProducerIdentity(number, 0), True, 5)
            tasks.create_task(delivery.deliver(outcome, [T0], is_wanted=lambda: True))
        await turns()
        brokers.gate.set()
    told = [{marker.producer_id for marker in request.markers} for request in brokers.requests]
    assert told[:2] == [{0}, {1, 2}]
    assert set().union(*told[2:]) == {1, 2}


async def test_whoever_gives_up_leaves_the_others_to_try_again() -> None:
    brokers = Brokers({T0: 1})
    brokers.gate = asyncio.Event()
    delivery = MarkerDelivery(brokers.send, brokers.leaders.get, retry_s=0)
    delivering = [
        asyncio.create_task(
            delivery.deliver(
                Outcome(ProducerIdentity(number, 0), True, 5), [T0], is_wanted=lambda: True
            )
        )
        for number in range(3)
    ]
    await turns()
    delivering[1].cancel()  # it would have sent the next request
    await turns()
    brokers.gate.set()
    assert await delivering[0]
    assert await delivering[2]
