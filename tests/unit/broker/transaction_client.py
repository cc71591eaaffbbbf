"""A transactional producer that speaks to a broker in requests."""

from dataclasses import dataclass
from typing import Any

from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from moldau.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from moldau.protocol.messages.end_txn import EndTxnRequest
from moldau.protocol.messages.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.init_producer_id import InitProducerIdRequest
from moldau.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from moldau.records.batch import TRANSACTIONAL, Producer, write_batch
from moldau.records.record import Record
from unit.broker.sample_requests import NEWEST_PRODUCE, produce, produced
from unit.broker.world import START_MS, World, until

SETTINGS = {
    "transaction.state.log.num.partitions": "1",
    "offsets.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
}
T0 = TopicPartition("t", 0)
NOBODY = ProducerIdentity(-1, -1)


async def begin(world: World) -> None:
    """Have topic `t`, and both coordinators at work."""
    await world.create_topic("t", 2)
    await find_coordinators(world)


async def find_coordinators(world: World) -> None:
    for key_type in (0, 1):
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["tx"])
        await world.ask(request, 4)
    broker = world.broker
    await until(broker.waiters, lambda: bool(list(broker.groups.shards)), "")
    await until(broker.waiters, lambda: bool(list(broker.transactions.shards)), "")


@dataclass(slots=True)
class Client:
    """Remembers its id and epoch, and what comes next in each partition."""

    world: World
    transactional_id: str = "tx"
    identity: ProducerIdentity = NOBODY
    sequence: int = 0

    async def init(
        self, *, version: int = 5, expected: ProducerIdentity | None = None
    ) -> ErrorCode:
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id, transaction_timeout_ms=60_000
        )
        if expected is not None:
            request.producer_id, request.producer_epoch = expected
        response = await self.world.ask(request, version)
        if response.error_code == ErrorCode.NONE:
            self.identity = ProducerIdentity(response.producer_id, response.producer_epoch)
            self.sequence = 0
        return ErrorCode(response.error_code)

    async def add(
        self, *partitions: TopicPartition, version: int = 3, verify_only: bool = False
    ) -> list[ErrorCode]:
        response = await self.world.ask(self.adding(partitions, version, verify_only), version)
        topics = response.results_by_topic_v3_and_below
        if version >= 4:
            assert response.error_code == ErrorCode.NONE
            (result,) = response.results_by_transaction
            topics = result.topic_results
        return [
            ErrorCode(each.partition_error_code)
            for topic in topics
            for each in topic.results_by_partition
        ]

    def adding(
        self, partitions: tuple[TopicPartition, ...], version: int, verify_only: bool
    ) -> AddPartitionsToTxnRequest:
        topics = [
            AddPartitionsToTxnTopic(name=one.topic, partitions=[one.partition])
            for one in partitions
        ]
        if version < 4:
            return AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self.transactional_id,
                v3_and_below_producer_id=self.identity.producer_id,
                v3_and_below_producer_epoch=self.identity.epoch,
                v3_and_below_topics=topics,
            )
        transaction = AddPartitionsToTxnTransaction(
            transactional_id=self.transactional_id,
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.epoch,
            verify_only=verify_only,
            topics=topics,
        )
        return AddPartitionsToTxnRequest(transactions=[transaction])

    async def add_group(self, group_id: str = "g", *, version: int = 3) -> ErrorCode:
        request = AddOffsetsToTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.epoch,
            group_id=group_id,
        )
        return ErrorCode((await self.world.ask(request, version)).error_code)

    async def produce(
        self, value: bytes = b"v", *, number: int = 0, version: int = NEWEST_PRODUCE, **more: Any
    ) -> ErrorCode:
        producer = Producer(self.identity.producer_id, self.identity.epoch, self.sequence)
        batch = write_batch(
            [Record(0, START_MS, None, value)], attributes=TRANSACTIONAL, producer=producer
        )
        request = produce(batch, number=number, acks=-1)
        request.transactional_id = more.get("transactional_id", self.transactional_id)
        answer = produced(await self.world.ask(request, version))
        if answer.error_code == ErrorCode.NONE:
            self.sequence += 1
        return ErrorCode(answer.error_code)

    async def commit_offset(
        self, offset: int, *, version: int = 3, partition: TopicPartition = T0, **more: Any
    ) -> ErrorCode:
        each = TxnOffsetCommitRequestPartition(
            partition_index=partition.partition, committed_offset=offset, committed_metadata=None
        )
        request = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id="g",
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.epoch,
            topics=[TxnOffsetCommitRequestTopic(name=partition.topic, partitions=[each])],
            **more,
        )
        response = await self.world.ask(request, version)
        return ErrorCode(response.topics[0].partitions[0].error_code)

    async def end(self, *, is_commit: bool = True, version: int = 3) -> ErrorCode:
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.epoch,
            committed=is_commit,
        )
        return ErrorCode((await self.world.ask(request, version)).error_code)

    async def until_complete(self) -> None:
        transactions = self.world.broker.transactions

        def is_complete() -> bool:
            state = transactions.describe(self.transactional_id).state
            return state.label.startswith(("Complete", "Empty"))

        await until(self.world.broker.waiters, is_complete, "")
