"""Bringing the outcomes of transactions to the leaders of their partitions.

A leader is sent one request at a time: it answers when its followers have the markers, and
what is decided meanwhile goes together with the next request.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

_log = logging.getLogger(__name__)

NO_LEADER = -1

Send = Callable[[int, WriteTxnMarkersRequest], Awaitable[object]]
FindLeader = Callable[[TopicPartition], int | None]

_FENCED = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED)


class Outcome(NamedTuple):
    """What the markers of a transaction say."""

    producer: ProducerIdentity
    is_commit: bool
    coordinator_epoch: int


Errors = dict[TopicPartition, ErrorCode]


@dataclass(slots=True)
class _Batch:
    """What goes to one leader in one request, and its answer by producer id."""

    markers: list[WritableTxnMarker] = field(default_factory=list)
    answer: asyncio.Future[dict[int, Errors]] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class MarkerDelivery:
    """Sends to leaders as they change, until every partition has its marker or is gone."""

    def __init__(self, send: Send, find_leader: FindLeader, *, retry_s: float = 0.1) -> None:
        """`find_leader` answers None for partitions that exist no more."""
        self._send = send
        self._find_leader = find_leader
        self._retry_s = retry_s
        # By leader: what waits to be sent, and what has been sent and is not answered.
        self._waiting: dict[int, _Batch] = {}
        self._under_way: dict[int, _Batch] = {}

    async def deliver(
        self,
        outcome: Outcome,
        partitions: Iterable[TopicPartition],
        *,
        is_wanted: Callable[[], bool],
    ) -> bool:
        """Says whether all markers are written; not if a newer coordinator was here before."""
        left = list(partitions)
        while left and is_wanted():
            errors = await self._send_once(outcome, left)
            if any(error in _FENCED for error in errors.values()):
                _log.warning(
                    "Failed to write markers of %s, another coordinator has taken over: %s",
                    outcome,
                    errors,
                )
                return False
            left = [each for each, error in errors.items() if error is not ErrorCode.NONE]
            if left:
                await asyncio.sleep(self._retry_s)
        return not left

    async def _send_once(self, outcome: Outcome, partitions: Sequence[TopicPartition]) -> Errors:
        by_leader: dict[int, list[TopicPartition]] = {}
        for partition in partitions:
            leader = self._find_leader(partition)
            if leader is not None:
                by_leader.setdefault(leader, []).append(partition)
        waiting = by_leader.pop(NO_LEADER, [])
        errors = dict.fromkeys(waiting, ErrorCode.LEADER_NOT_AVAILABLE)
        answers = await asyncio.gather(
            *(self._send_to(leader, outcome, each) for leader, each in by_leader.items())
        )
        for answer in answers:
            errors |= answer
        return errors

    async def _send_to(
        self, leader: int, outcome: Outcome, partitions: Sequence[TopicPartition]
    ) -> Errors:
        marker = _marker(outcome, partitions)
        batch = self._waiting.get(leader)
        if batch is not None:
            batch.markers.append(marker)
        else:
            batch = self._waiting[leader] = _Batch([marker])
            await self._send_batch(leader, batch)
        answered = await asyncio.shield(batch.answer)
        errors = dict.fromkeys(partitions, ErrorCode.UNKNOWN_SERVER_ERROR)
        return errors | answered.get(marker.producer_id, {})

    async def _send_batch(self, leader: int, batch: _Batch) -> None:
        """Send what has gathered when the request before is answered."""
        answer: dict[int, Errors] = {}
        try:
            while (before := self._under_way.get(leader)) is not None:
                await asyncio.shield(before.answer)
            del self._waiting[leader]
            self._under_way[leader] = batch
            request = WriteTxnMarkersRequest(markers=batch.markers)
            answer = _errors(await self._send(leader, request))
        except KafkaError as error:
            answer = {
                marker.producer_id: dict.fromkeys(_partitions(marker), error.code)
                for marker in batch.markers
            }
        finally:
            for place in (self._waiting, self._under_way):
                if place.get(leader) is batch:
                    del place[leader]
            batch.answer.set_result(answer)


def _marker(outcome: Outcome, partitions: Sequence[TopicPartition]) -> WritableTxnMarker:
    topics: dict[str, list[int]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(number)
    return WritableTxnMarker(
        producer_id=outcome.producer.producer_id,
        producer_epoch=outcome.producer.epoch,
        transaction_result=outcome.is_commit,
        topics=[
            WritableTxnMarkerTopic(name=topic, partition_indexes=numbers)
            for topic, numbers in topics.items()
        ],
        coordinator_epoch=outcome.coordinator_epoch,
    )


def _partitions(marker: WritableTxnMarker) -> list[TopicPartition]:
    return [
        TopicPartition(topic.name, number)
        for topic in marker.topics
        for number in topic.partition_indexes
    ]


def _errors(response: object) -> dict[int, Errors]:
    assert isinstance(response, WriteTxnMarkersResponse)
    return {
        marker.producer_id: {
            TopicPartition(topic.name, each.partition_index): ErrorCode(each.error_code)
            for topic in marker.topics
            for each in topic.partitions
        }
        for marker in response.markers
    }
