"""Talks to the coordinator of a producer's transactions: its id, their partitions, their end."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, TypeVar

from moldau.client.group.coordinator import TRANSACTION, Coordinator
from moldau.client.producer.transaction import ProducerTransaction, TransactionPhase
from moldau.client.settings import ProducerSettings
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_SEQUENCE, TopicPartition
from moldau.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from moldau.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from moldau.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from moldau.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from moldau.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from moldau.records.batch import Producer as ProducerIdentity

_TXN_OFFSET_COMMIT = 28
_SINCE_MEMBERS = 3
_BACKOFF_MAX_S = 0.02  # the end of the transaction before is a matter of a few milliseconds
_ELSEWHERE = (
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.REQUEST_TIMED_OUT,
)

Result = TypeVar("Result")


class GroupMetadata(NamedTuple):
    """The member that commits offsets in a transaction, from `consumer.group_metadata()`."""

    group_id: str
    generation: int = -1
    member_id: str = ""
    instance_id: str | None = None


class TransactionClient:
    """The asyncio owner of a producer's transaction."""

    def __init__(self, coordinator: Coordinator) -> None:
        settings = coordinator.cluster.settings
        assert isinstance(settings, ProducerSettings)
        assert coordinator.kind == TRANSACTION, "of a transactional id"
        self._settings: ProducerSettings = settings
        self._coordinator = coordinator
        self._cluster = coordinator.cluster
        self._groups: dict[str, Coordinator] = {}
        self._wanted: dict[TopicPartition, None] = {}
        self._adding = asyncio.Lock()
        self.transaction = ProducerTransaction(settings.transactional_id)
        self.identity: ProducerIdentity

    async def begin(self) -> None:
        """Become the one producer that has the transactional id."""
        self.identity = await self._try(lambda: self._ask_identity(None))

    # Partitions

    def has(self, partition: TopicPartition) -> bool:
        """Whether records may go to a partition; if not, it is added by `add_wanted`."""
        if partition in self.transaction.partitions:
            return True
        self._wanted[partition] = None
        return False

    @property
    def wants_more(self) -> bool:
        """Whether partitions wait to be added and no request adds them."""
        return bool(self._wanted) and not self._adding.locked()

    async def add_wanted(self) -> None:
        """Let the coordinator know of more partitions; an error spoils the transaction."""
        async with self._adding:
            adding, self._wanted = list(self._wanted), {}
            try:
                await self._try(lambda: self._add(adding))
                self.transaction.partitions.update(adding)
            except KafkaError as error:
                self.transaction.fail(error)

    # Offsets

    async def commit_offsets(
        self, offsets: Mapping[TopicPartition, int], group: GroupMetadata, metadata: str = ""
    ) -> None:
        """Commit offsets of a group with the transaction, and a note beside each of them."""
        self.transaction.check_open()
        if not offsets:
            return
        try:
            if group.group_id not in self.transaction.groups:
                await self._try(lambda: self._add_group(group.group_id))
                self.transaction.groups.add(group.group_id)
            coordinator = self._groups.setdefault(
                group.group_id, Coordinator(self._cluster, group.group_id)
            )
            await self._try(
                lambda: self._commit_offsets(coordinator, offsets, group, metadata), coordinator
            )
        except KafkaError as error:
            self.transaction.fail(error)
            raise

    # The end

    async def end(self) -> None:
        """Have the transaction committed or aborted, as it was decided."""
        transaction = self.transaction
        assert transaction.phase in (TransactionPhase.COMMITTING, TransactionPhase.ABORTING), (
            "its end has begun"
        )
        is_committed = transaction.phase is TransactionPhase.COMMITTING
        try:
            async with self._adding:  # else a partition could come into it after its end
                if not transaction.is_empty:
                    transaction.is_end_asked = True
                    await self._try(lambda: self._end(is_committed=is_committed))
                transaction.end()
            if transaction.needs_new_epoch:
                await self._renew()
        except KafkaError as error:
            if error.code not in _ELSEWHERE:
                transaction.fail(error)
            raise
        finally:
            self._wanted.clear()

    async def _renew(self) -> None:
        """Take the next epoch, in which numbers begin anew; before 2.5 there is none (KIP-360)."""
        try:
            self.identity = await self._try(lambda: self._ask_identity(self.identity))
        except KafkaError as error:
            self.transaction.lose(error)
            raise
        self.transaction.needs_new_epoch = False

    # Requests

    async def _try(
        self, attempt: Callable[[], Awaitable[Result]], coordinator: Coordinator | None = None
    ) -> Result:
        """Again and elsewhere, for as long as `max.block.ms`."""
        last_error: KafkaError | None = None
        wait_s = self._settings.max_block_ms / 1000
        try:
            async with asyncio.timeout(wait_s):
                while True:
                    try:
                        return await attempt()
                    except KafkaError as error:
                        if not error.is_retriable:
                            raise
                        last_error = error
                        if error.code in _ELSEWHERE:
                            (coordinator or self._coordinator).forget()
                    await self._back_off(last_error)
        except TimeoutError:
            name = self.transaction.transactional_id
            reason = f"{name}: {last_error or 'no answer'}, for {wait_s:g} s"
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, reason) from None

    async def _back_off(self, error: KafkaError) -> None:
        backoff_s = self._settings.retry_backoff_ms / 1000
        if error.code is ErrorCode.CONCURRENT_TRANSACTIONS:
            backoff_s = min(backoff_s, _BACKOFF_MAX_S)
        await asyncio.sleep(backoff_s)

    async def _ask_identity(self, before: ProducerIdentity | None) -> ProducerIdentity:
        request = InitProducerIdRequest(
            transactional_id=self.transaction.transactional_id,
            transaction_timeout_ms=self._settings.transaction_timeout_ms,
            producer_id=-1 if before is None else before.producer_id,
            producer_epoch=-1 if before is None else before.epoch,
        )
        answer = await self._coordinator.ask(request, InitProducerIdResponse)
        _raise_for(answer.error_code, "InitProducerId")
        return ProducerIdentity(answer.producer_id, answer.producer_epoch, NO_SEQUENCE)

    async def _add(self, partitions: list[TopicPartition]) -> None:
        topics: dict[str, list[int]] = {}
        for topic, partition in partitions:
            topics.setdefault(topic, []).append(partition)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transaction.transactional_id,
            v3_and_below_producer_id=self.identity.producer_id,
            v3_and_below_producer_epoch=self.identity.epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=topic, partitions=indexes)
                for topic, indexes in topics.items()
            ],
        )
        answer = await self._coordinator.ask(request, AddPartitionsToTxnResponse)
        errors = {
            TopicPartition(topic.name, each.partition_index): each.partition_error_code
            for topic in answer.results_by_topic_v3_and_below
            for each in topic.results_by_partition
        }
        # Of several the one that says most: the others were not attempted because of it.
        for code in (code for code in errors.values() if code):
            if code != ErrorCode.OPERATION_NOT_ATTEMPTED or len(set(errors.values())) == 1:
                _raise_for(code, "AddPartitionsToTxn")

    async def _add_group(self, group_id: str) -> None:
        request = AddOffsetsToTxnRequest(
            transactional_id=self.transaction.transactional_id,
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.epoch,
            group_id=group_id,
        )
        answer = await self._coordinator.ask(request, AddOffsetsToTxnResponse)
        _raise_for(answer.error_code, f"AddOffsetsToTxn of group {group_id}")

    async def _commit_offsets(
        self,
        coordinator: Coordinator,
        offsets: Mapping[TopicPartition, int],
        group: GroupMetadata,
        metadata: str,
    ) -> None:
        version = await coordinator.newest_version(_TXN_OFFSET_COMMIT)
        # Older brokers cannot distinguish a replaced member from the one that replaced it.
        member = group if version >= _SINCE_MEMBERS else GroupMetadata(group.group_id)
        topics: dict[str, list[TxnOffsetCommitRequestPartition]] = {}
        for (topic, partition), offset in offsets.items():
            topics.setdefault(topic, []).append(
                TxnOffsetCommitRequestPartition(
                    partition_index=partition, committed_offset=offset, committed_metadata=metadata
                )
            )
        request = TxnOffsetCommitRequest(
            transactional_id=self.transaction.transactional_id,
            group_id=member.group_id,
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.epoch,
            generation_id=member.generation,
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            topics=[
                TxnOffsetCommitRequestTopic(name=topic, partitions=partitions)
                for topic, partitions in topics.items()
            ],
        )
        answer = await coordinator.ask(request, TxnOffsetCommitResponse)
        for topic_answer in answer.topics:
            for each in topic_answer.partitions:
                _raise_for(each.error_code, f"TxnOffsetCommit of group {group.group_id}")

    async def _end(self, *, is_committed: bool) -> None:
        request = EndTxnRequest(
            transactional_id=self.transaction.transactional_id,
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.epoch,
            committed=is_committed,
        )
        answer = await self._coordinator.ask(request, EndTxnResponse)
        _raise_for(answer.error_code, "EndTxn")


def _raise_for(number: int, what: str) -> None:
    if number:
        code = ErrorCode(number)
        raise KafkaError(code, f"{what}: {code.name}")
