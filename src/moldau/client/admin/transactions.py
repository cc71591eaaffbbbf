"""Transactions: listed, described, aborted from outside, and their producers fenced."""

from collections.abc import Iterable
from dataclasses import dataclass

from moldau.client.admin.area import AdminArea, by_topic, names
from moldau.client.admin.outcomes import Outcomes
from moldau.client.admin.routing import Answers, Router, outcome
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from moldau.protocol.messages.describe_producers import ProducerState as AnsweredProducer
from moldau.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from moldau.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from moldau.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from moldau.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

_FENCING_TIMEOUT_MS = 60_000


@dataclass(frozen=True, slots=True)
class TransactionListing:
    """A transactional id that there is."""

    transactional_id: str
    producer_id: int
    state: str
    coordinator: int


@dataclass(frozen=True, slots=True)
class TransactionDescription:
    """A transaction; it has no start unless it is under way."""

    coordinator: int
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_ms: int | None
    partitions: list[TopicPartition]


@dataclass(frozen=True, slots=True)
class ProducerState:
    """A producer that a partition remembers; no offset if it has no transaction open there."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int | None
    transaction_start_offset: int | None


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A transaction on one partition, as `describe_producers` shows it."""

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int


@dataclass(frozen=True, slots=True)
class FencedProducer:
    """The id and epoch that are in force after the fencing."""

    producer_id: int
    producer_epoch: int


class TransactionsArea(AdminArea):
    """The part of the Admin client for transactions."""

    async def list_transactions(
        self,
        *,
        states: Iterable[str] = (),
        producer_ids: Iterable[int] = (),
        duration_min_ms: int | None = None,
    ) -> list[TransactionListing]:
        """The transactional ids of all brokers, filtered if filters are given."""
        found = await self.list_transactions_by_broker(
            states=states, producer_ids=producer_ids, duration_min_ms=duration_min_ms
        )
        listings = [each for listed in found.values() for each in listed]
        return sorted(listings, key=lambda each: each.transactional_id)

    async def list_transactions_by_broker(
        self,
        *,
        states: Iterable[str] = (),
        producer_ids: Iterable[int] = (),
        duration_min_ms: int | None = None,
    ) -> Outcomes[int, list[TransactionListing]]:
        """As `list_transactions`, for callers that go on without those of silent brokers."""
        router = self._router
        request = ListTransactionsRequest(
            state_filters=list(states),
            producer_id_filters=list(producer_ids),
            duration_filter=-1 if duration_min_ms is None else duration_min_ms,
        )

        async def ask(node_id: int, keys: list[int]) -> Answers[int, list[TransactionListing]]:
            answer = await router.cluster.ask(node_id, request, ListTransactionsResponse)
            found = [
                TransactionListing(
                    each.transactional_id, each.producer_id, each.transaction_state, node_id
                )
                for each in answer.transaction_states
            ]
            return dict.fromkeys(keys, outcome(answer.error_code, found))

        return await router.each(await router.all_brokers(), router.brokers, ask)

    async def describe_transactions(
        self, transactional_ids: str | Iterable[str]
    ) -> Outcomes[str, TransactionDescription]:
        """State, producer and partitions of transactions."""
        router = self._router

        async def ask(node_id: int, keys: list[str]) -> Answers[str, TransactionDescription]:
            request = DescribeTransactionsRequest(transactional_ids=keys)
            answer = await router.cluster.ask(node_id, request, DescribeTransactionsResponse)
            return {
                each.transactional_id: outcome(each.error_code, _described(each, node_id))
                for each in answer.transaction_states
            }

        return await router.each(names(transactional_ids), router.transactions, ask)

    async def describe_producers(
        self, partitions: Iterable[TopicPartition]
    ) -> Outcomes[TopicPartition, list[ProducerState]]:
        """The producers that the leaders of partitions remember."""
        router = self._router

        async def ask(
            node_id: int, keys: list[TopicPartition]
        ) -> Answers[TopicPartition, list[ProducerState]]:
            request = DescribeProducersRequest(
                topics=[
                    TopicRequest(name=topic, partition_indexes=indexes)
                    for topic, indexes in by_topic(keys).items()
                ]
            )
            answer = await router.cluster.ask(node_id, request, DescribeProducersResponse)
            return {
                TopicPartition(topic.name, each.partition_index): outcome(
                    each.error_code,
                    [_producer(producer) for producer in each.active_producers],
                    each.error_message,
                )
                for topic in answer.topics
                for each in topic.partitions
            }

        return await router.each(partitions, router.leaders, ask)

    async def abort_transaction(self, transaction: OpenTransaction) -> None:
        """End a transaction that its producer will not end, so that readers can go on."""
        router = self._router
        marker = WritableTxnMarker(
            producer_id=transaction.producer_id,
            producer_epoch=transaction.producer_epoch,
            transaction_result=False,
            topics=[
                WritableTxnMarkerTopic(
                    name=transaction.partition.topic,
                    partition_indexes=[transaction.partition.partition],
                )
            ],
            coordinator_epoch=transaction.coordinator_epoch,
        )

        async def ask(node_id: int, keys: list[TopicPartition]) -> Answers[TopicPartition, None]:
            del keys  # there is one
            request = WriteTxnMarkersRequest(markers=[marker])
            answer = await router.cluster.ask(node_id, request, WriteTxnMarkersResponse)
            return {
                TopicPartition(topic.name, each.partition_index): outcome(each.error_code, None)
                for written in answer.markers
                for topic in written.topics
                for each in topic.partitions
            }

        (await router.each([transaction.partition], router.leaders, ask)).check()

    async def fence_producers(
        self, transactional_ids: str | Iterable[str]
    ) -> Outcomes[str, FencedProducer]:
        """Let no producer that has these ids now commit anything more."""
        router = self._router

        async def ask(node_id: int, keys: list[str]) -> Answers[str, FencedProducer]:
            return {key: await _fence(router, node_id, key) for key in keys}

        return await router.each(names(transactional_ids), router.transactions, ask)


async def _fence(
    router: Router, node_id: int, transactional_id: str
) -> FencedProducer | KafkaError:
    request = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=_FENCING_TIMEOUT_MS
    )
    answer = await router.cluster.ask(node_id, request, InitProducerIdResponse)
    return outcome(answer.error_code, FencedProducer(answer.producer_id, answer.producer_epoch))


def _described(state: TransactionState, node_id: int) -> TransactionDescription:
    start_ms = state.transaction_start_time_ms
    return TransactionDescription(
        node_id,
        state.transaction_state,
        state.producer_id,
        state.producer_epoch,
        state.transaction_timeout_ms,
        start_ms if start_ms >= 0 else None,
        [
            TopicPartition(topic.topic, partition)
            for topic in state.topics
            for partition in topic.partitions
        ],
    )


def _producer(answer: AnsweredProducer) -> ProducerState:
    epoch, offset = answer.coordinator_epoch, answer.current_txn_start_offset
    return ProducerState(
        answer.producer_id,
        answer.producer_epoch,
        answer.last_sequence,
        answer.last_timestamp,
        epoch if epoch >= 0 else None,
        offset if offset >= 0 else None,
    )
