"""Producers with transactions: each writes to some partitions and commits an offset, or aborts."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from moldau.errors import ErrorCode, KafkaError
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
from moldau.records.batch import Producer
from simulation.client import GROUP, TOPIC, TRANSACTION, Client, require
from simulation.history import History, Outcome, Transaction, Write
from simulation.writing import batch_of, produce

Result = TypeVar("Result")

_TIMEOUT_MS = 8_000
_PATIENCE_S = 6.0
_PAUSE_S = 1.5
_RECORDS_MAX = 4
# The outcome of what was asked is not known, so it must not be asked again.
_NO_ANSWER = (ErrorCode.NETWORK_EXCEPTION, ErrorCode.REQUEST_TIMED_OUT)


@dataclass(slots=True)
class Identity:
    """Who the coordinator says this producer is."""

    producer_id: int
    epoch: int
    sequences: dict[int, int] = field(default_factory=dict)


class TransactionalProducer:
    """One transaction after the other; begins anew with another epoch when in doubt."""

    def __init__(self, client: Client, partition_count: int, history: History) -> None:
        self._client = client
        self._partition_count = partition_count
        self._history = history
        self._number = 0

    @property
    def group(self) -> str:
        """The group whose offset goes with each transaction."""
        return f"{self._client.name}-offsets"

    async def run(self, until_s: float) -> None:
        """Transact until a moment; then end what is open."""
        loop = asyncio.get_running_loop()
        while loop.time() < until_s:
            producer = await self.begin()
            try:
                while loop.time() < until_s:
                    await self._transact(producer)
                    await asyncio.sleep(_PAUSE_S * self._client.chance.random())
            except (KafkaError, TimeoutError):
                await self._client.back_off()
        # Whatever is still open is ended by the next one of this name.
        await self.begin()
        self._client.close()

    async def begin(self) -> Identity:
        """Ask who this producer is; nothing of what it was before can go on."""
        request = InitProducerIdRequest(
            transactional_id=self._client.name, transaction_timeout_ms=_TIMEOUT_MS
        )
        while True:
            try:
                answer = await self._ask_coordinator(request, InitProducerIdResponse, 4)
                require(answer.error_code)
            except KafkaError:
                await self._client.back_off()
            else:
                self._history.producer_ids.append((self._client.name, answer.producer_id))
                return Identity(answer.producer_id, answer.producer_epoch)

    async def _transact(self, producer: Identity) -> None:
        chance = self._client.chance
        self._number += 1
        name = f"{self._client.name}@{self._number}"
        partitions = sorted(
            chance.sample(range(self._partition_count), min(2, self._partition_count))
        )
        transaction = Transaction(name, is_commit=False)
        self._history.transactions[name] = transaction
        async with asyncio.timeout(_PATIENCE_S):
            await self.insist(lambda: self.add_partitions(producer, partitions))
            for partition in partitions:
                await self._write(producer, partition, name)
            if chance.random() < 0.5:
                await self._commit_offset(producer, transaction)
        transaction.is_commit = chance.random() < 0.75
        async with asyncio.timeout(_PATIENCE_S):
            await self.insist(lambda: self.end(producer, is_commit=transaction.is_commit))
        transaction.outcome = Outcome.DONE

    async def add_partitions(self, producer: Identity, partitions: list[int]) -> None:
        """Make partitions part of the transaction."""
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._client.name,
            v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=TOPIC, partitions=partitions)],
        )
        answer = await self._ask_coordinator(request, AddPartitionsToTxnResponse, 3)
        for topic in answer.results_by_topic_v3_and_below:
            for result in topic.results_by_partition:
                require(result.partition_error_code)

    async def _write(self, producer: Identity, partition: int, name: str) -> None:
        count = 1 + self._client.chance.randrange(_RECORDS_MAX)
        values = [f"{name}/{partition}#{index}" for index in range(count)]
        write = Write(name, partition, values, transaction=name)
        self._history.writes.append(write)
        sequence = producer.sequences.get(partition, 0)
        fields = Producer(producer.producer_id, producer.epoch, sequence)
        batch = batch_of(self._client, values, fields, is_transactional=True)
        producer.sequences[partition] = sequence + count
        write.base_offset = await self.insist(
            lambda: produce(self._client, partition, batch, self._client.name),
            is_idempotent=True,
        )
        write.outcome = Outcome.DONE

    async def _commit_offset(self, producer: Identity, transaction: Transaction) -> None:
        async def add() -> None:
            request = AddOffsetsToTxnRequest(
                transactional_id=self._client.name,
                producer_id=producer.producer_id,
                producer_epoch=producer.epoch,
                group_id=self.group,
            )
            answer = await self._ask_coordinator(request, AddOffsetsToTxnResponse, 3)
            require(answer.error_code)

        async def commit() -> None:
            partition = TxnOffsetCommitRequestPartition(
                partition_index=0, committed_offset=self._number, committed_metadata=""
            )
            request = TxnOffsetCommitRequest(
                transactional_id=self._client.name,
                group_id=self.group,
                producer_id=producer.producer_id,
                producer_epoch=producer.epoch,
                topics=[TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[partition])],
            )
            answer = await self._client.ask_coordinator(
                GROUP, self.group, request, TxnOffsetCommitResponse, 3
            )
            require(answer.topics[0].partitions[0].error_code)

        await self.insist(add)
        await self.insist(commit)
        transaction.committed_offset = self._number

    async def end(self, producer: Identity, *, is_commit: bool) -> None:
        """Commit or abort."""
        request = EndTxnRequest(
            transactional_id=self._client.name,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            committed=is_commit,
        )
        answer = await self._ask_coordinator(request, EndTxnResponse, 3)
        require(answer.error_code)

    async def _ask_coordinator(
        self, request: object, response: type[Result], version: int
    ) -> Result:
        return await self._client.ask_coordinator(
            TRANSACTION, self._client.name, request, response, version
        )

    async def insist(
        self, work: Callable[[], Awaitable[Result]], *, is_idempotent: bool = False
    ) -> Result:
        """Try again where the answer says so, or where doing it twice makes no difference."""
        while True:
            try:
                return await work()
            except KafkaError as error:
                if not error.code.is_retriable and error.code is not (
                    ErrorCode.CONCURRENT_TRANSACTIONS
                ):
                    raise
                if error.code in _NO_ANSWER and not is_idempotent:
                    raise
                await self._client.back_off()
