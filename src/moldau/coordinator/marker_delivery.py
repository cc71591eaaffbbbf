"""Bringing the outcome of a transaction to the leaders of its partitions."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from moldau.coordinator.transaction.transaction import Identity
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
    """What the partitions of a transaction are told."""

    producer: Identity
    is_commit: bool
    coordinator_epoch: int


class MarkerDelivery:
    """Sends to leaders as they change, until every partition has been told or is gone."""

    def __init__(self, send: Send, find_leader: FindLeader, *, retry_s: float = 0.1) -> None:
        """`find_leader` answers None for partitions that exist no more."""
        self._send = send
        self._find_leader = find_leader
        self._retry_s = retry_s

    async def deliver(
        self,
        outcome: Outcome,
        partitions: Iterable[TopicPartition],
        *,
        is_wanted: Callable[[], bool],
    ) -> bool:
        """Says whether everybody was told; not if a newer coordinator was here before."""
        left = list(partitions)
        while left and is_wanted():
            errors = await self._send_once(outcome, left)
            if any(error in _FENCED for error in errors.values()):
                _log.warning("%s is not ours to end any more: %s", outcome, errors)
                return False
            left = [each for each, error in errors.items() if error is not ErrorCode.NONE]
            if left:
                await asyncio.sleep(self._retry_s)
        return not left

    async def _send_once(
        self, outcome: Outcome, partitions: Sequence[TopicPartition]
    ) -> dict[TopicPartition, ErrorCode]:
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
    ) -> Mapping[TopicPartition, ErrorCode]:
        try:
            response = await self._send(leader, _request(outcome, partitions))
        except KafkaError as error:
            return dict.fromkeys(partitions, error.code)
        assert isinstance(response, WriteTxnMarkersResponse)
        errors = dict.fromkeys(partitions, ErrorCode.UNKNOWN_SERVER_ERROR)
        for marker in response.markers:
            for topic in marker.topics:
                for each in topic.partitions:
                    partition = TopicPartition(topic.name, each.partition_index)
                    errors[partition] = ErrorCode(each.error_code)
        return errors


def _request(outcome: Outcome, partitions: Sequence[TopicPartition]) -> WriteTxnMarkersRequest:
    topics: dict[str, list[int]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(number)
    marker = WritableTxnMarker(
        producer_id=outcome.producer.producer_id,
        producer_epoch=outcome.producer.epoch,
        transaction_result=outcome.is_commit,
        topics=[
            WritableTxnMarkerTopic(name=topic, partition_indexes=numbers)
            for topic, numbers in topics.items()
        ],
        coordinator_epoch=outcome.coordinator_epoch,
    )
    return WriteTxnMarkersRequest(markers=[marker])
