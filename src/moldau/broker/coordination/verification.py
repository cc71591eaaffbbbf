"""Asking coordinators whether a partition takes part in a transaction (KIP-890).

A leader asks before the first batch of a transaction, so that a batch which comes late, after
the transaction has ended, cannot open one that would never end.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from moldau.broker.topics.internal import TRANSACTION_STATE
from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.coordinator.transaction.transactions import Errors
from moldau.coordinator.transaction_coordinator import TransactionCoordinator
from moldau.errors import ErrorCode, KafkaError
from moldau.log.verification import Guard
from moldau.metadata.cache import MetadataCache
from moldau.model import TopicPartition
from moldau.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from moldau.replication.partition import Partition

_log = logging.getLogger(__name__)

VERIFIES_SINCE = 4
"""The first version of AddPartitionsToTxn in which brokers can ask."""

Send = Callable[[int, AddPartitionsToTxnRequest], Awaitable[object]]


class Writer(NamedTuple):
    """The producer, and the transaction it writes in."""

    transactional_id: str | None
    producer: ProducerIdentity
    sequence: int


@dataclass(slots=True)
class _Pending:
    """What is asked about one transaction in one request."""

    partitions: dict[TopicPartition, None]
    answer: asyncio.Future[Errors] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


_Subject = tuple[str, ProducerIdentity]


class Verifier:
    """Sends one request at a time for a transaction, and gathers later partitions for the next.

    Several connections may produce in one transaction: Kafka answers all but the last of them
    with NETWORK_EXCEPTION, here all of them are verified.
    """

    def __init__(
        self,
        broker_id: int,
        transactions: TransactionCoordinator,
        metadata: MetadataCache,
        send: Send,
        *,
        is_enabled: Callable[[], bool],
    ) -> None:
        self._broker_id = broker_id
        self._transactions = transactions
        self._metadata = metadata
        self._send = send
        self._is_enabled = is_enabled
        self._gathering: dict[_Subject, _Pending] = {}
        self._asked: dict[_Subject, _Pending] = {}

    async def guard(self, partition: Partition, writer: Writer, *, now_ms: int) -> Guard | None:
        """What a transactional batch may be appended with; raises if it may not be.

        None if the transaction is open in this partition already.
        """
        producers = partition.log.producers
        producer_id, epoch = writer.producer
        if producers.has_open_transaction(producer_id):
            return None
        guard = producers.verifications.begin(
            producer_id, sequence=writer.sequence, epoch=epoch, now_ms=now_ms
        )
        if self._is_enabled():
            if writer.transactional_id is None:
                message = f"producer {producer_id} does not name its transactional id"
                raise KafkaError(ErrorCode.INVALID_TXN_STATE, message)
            subject = (writer.transactional_id, writer.producer)
            error = await self._verify(subject, partition.topic_partition)
            if error is not ErrorCode.NONE:
                message = f"{partition.topic_partition} is not verified for {subject}"
                raise KafkaError(error, message)
        return guard

    async def _verify(self, subject: _Subject, partition: TopicPartition) -> ErrorCode:
        transactional_id, producer = subject
        number = self._transactions.shards.partition_of(transactional_id)
        coordinator = self._metadata.image.partition(TRANSACTION_STATE, number)
        if coordinator is None or coordinator.leader < 0:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        if coordinator.leader != self._broker_id:
            return await self._ask(coordinator.leader, subject, partition)
        try:
            verify = self._transactions.verify
            return (await verify(transactional_id, producer, [partition]))[partition]
        except KafkaError as error:
            return error.code

    async def _ask(self, leader: int, subject: _Subject, partition: TopicPartition) -> ErrorCode:
        pending = self._gathering.get(subject)
        if pending is None:
            pending = self._gathering[subject] = _Pending({partition: None})
            await self._put(leader, subject, pending)
        else:
            pending.partitions[partition] = None
        # Shielded: one connection that goes away must not take the answer from the others.
        errors = await asyncio.shield(pending.answer)
        return errors.get(partition, ErrorCode.NETWORK_EXCEPTION)

    async def _put(self, leader: int, subject: _Subject, pending: _Pending) -> None:
        errors: Errors = {}
        try:
            while (asked := self._asked.get(subject)) is not None:
                await asyncio.shield(asked.answer)
            del self._gathering[subject]
            self._asked[subject] = pending
            response = await self._send(leader, _request(subject, list(pending.partitions)))
            errors = _errors(response)
        except KafkaError as error:
            code = error.code
            if code is ErrorCode.UNSUPPORTED_VERSION:
                # A coordinator of an older release: as before KIP-890, nothing is verified.
                _log.warning(
                    "Coordinator does not verify transactions, appending without: %s", error
                )
                code = ErrorCode.NONE
            errors = dict.fromkeys(pending.partitions, code)
        finally:
            if self._asked.get(subject) is pending:
                del self._asked[subject]
            elif self._gathering.get(subject) is pending:
                del self._gathering[subject]
            pending.answer.set_result(errors)


def _request(subject: _Subject, partitions: Sequence[TopicPartition]) -> AddPartitionsToTxnRequest:
    topics: dict[str, list[int]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(number)
    transactional_id, producer = subject
    transaction = AddPartitionsToTxnTransaction(
        transactional_id=transactional_id,
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        verify_only=True,
        topics=[
            AddPartitionsToTxnTopic(name=topic, partitions=numbers)
            for topic, numbers in topics.items()
        ],
    )
    return AddPartitionsToTxnRequest(transactions=[transaction])


def _errors(response: object) -> Errors:
    assert isinstance(response, AddPartitionsToTxnResponse)
    if response.error_code != ErrorCode.NONE:
        raise KafkaError(ErrorCode(response.error_code))
    return {
        TopicPartition(topic.name, each.partition_index): ErrorCode(each.partition_error_code)
        for result in response.results_by_transaction
        for topic in result.topic_results
        for each in topic.results_by_partition
    }
