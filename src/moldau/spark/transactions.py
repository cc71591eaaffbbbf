"""The transactions of a query, one for each micro-batch: begun and committed by the driver."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple, TypeVar

from moldau.client.blocking.loop_thread import LoopThread
from moldau.client.connection.cluster import Cluster
from moldau.client.group.coordinator import TRANSACTION, Coordinator
from moldau.client.producer.transactions import GroupMetadata, TransactionClient
from moldau.client.settings import ProducerSettings
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.metadata import MetadataRequest, MetadataResponse
from moldau.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from moldau.records.batch import Producer as ProducerIdentity

NO_BATCH = -1
_NOTE = "moldau batch {}"
_NOTED = re.compile(r"moldau batch (\d+)")

Result = TypeVar("Result")


class _Note(NamedTuple):
    """A batch that was committed, and the topic whose first partition has the note of it."""

    batch_id: int
    topic: str


_NOWHERE = _Note(NO_BATCH, "")


class BatchTransactions:
    """Says to the coordinators what a micro-batch does; for code that blocks.

    The number of the last batch is committed with its rows, as the offset of a group that has
    the name of the transactional id: a driver that repeats a batch finds it there.
    """

    def __init__(self, settings: ProducerSettings) -> None:
        self._settings = settings
        self._thread = LoopThread("moldau-batch-transactions")
        self._cluster: Cluster
        self._coordinator: Coordinator
        self._group: Coordinator
        self._transactions: TransactionClient
        self._note = _NOWHERE
        try:
            self._thread.call(self._start())
        except BaseException:
            self._thread.close()
            raise

    def begin(self) -> ProducerIdentity:
        """Begin anew: what was open is aborted, and the previous producer is fenced."""
        return self._thread.call(self._begin())

    def last_batch(self) -> int:
        """The last batch that was committed, or NO_BATCH; waits for what is being committed."""
        return self._thread.call(self._find_note()).batch_id

    def commit(self, batch_id: int, partitions: Iterable[TopicPartition]) -> None:
        """Make visible what tasks wrote to the partitions, and that it was this batch."""
        self._thread.call(self._commit(batch_id, sorted(partitions)))

    def renew(self) -> None:
        """Note the last batch once more: the offsets of groups expire."""
        self.begin()
        last = self.last_batch()
        if last != NO_BATCH:
            self._thread.call(self._commit(last, []))

    def partition_count(self, topic: str) -> int:
        """How many partitions a topic has; it is created if brokers do that."""
        return self._thread.call(self._count(topic))

    def close(self) -> None:
        """Hang up; what is open is aborted by the next to begin, or when its time is over."""
        if not self._thread.is_closed:
            self._thread.call_function(self._cluster.close)
            self._thread.close()

    async def _start(self) -> None:
        self._cluster = Cluster(self._settings)
        name = self._settings.transactional_id
        self._coordinator = Coordinator(self._cluster, name, TRANSACTION)
        self._group = Coordinator(self._cluster, name)

    async def _begin(self) -> ProducerIdentity:
        self._transactions = TransactionClient(self._coordinator)
        await self._transactions.begin()
        self._transactions.transaction.begin()
        return self._transactions.identity

    async def _commit(self, batch_id: int, partitions: list[TopicPartition]) -> None:
        transactions = self._transactions
        transactions.transaction.partitions.update(partitions)
        topic = self._note.topic or partitions[0].topic
        await transactions.commit_offsets(
            {TopicPartition(topic, 0): batch_id},
            GroupMetadata(self._settings.transactional_id),
            _NOTE.format(batch_id),
        )
        transactions.transaction.commit()
        await transactions.end()

    async def _find_note(self) -> _Note:
        """The note of the last batch, which stays where the first one was.

        A broker that is asked for all offsets leaves out those of which the first is not decided
        yet: as long as there is none, it has to be asked for every place that could have one.
        """
        self._note = await self._again(lambda: self._read_note(None))
        if self._note == _NOWHERE:
            topics = await self._again(self._topics)
            self._note = await self._again(lambda: self._read_note(topics))
        return self._note

    async def _topics(self) -> list[str]:
        answer = await self._cluster.ask_any(MetadataRequest(topics=None), MetadataResponse)
        return sorted(topic.name for topic in answer.topics if topic.name is not None)

    async def _read_note(self, topics: list[str] | None) -> _Note:
        asked = None
        if topics is not None:
            asked = [OffsetFetchRequestTopic(name=name, partition_indexes=[0]) for name in topics]
        request = OffsetFetchRequest(
            group_id=self._settings.transactional_id, topics=asked, require_stable=True
        )
        answer = await self._group.ask(request, OffsetFetchResponse)
        _raise_for(answer.error_code)
        last = _NOWHERE
        for topic in answer.topics:
            for each in topic.partitions:
                _raise_for(each.error_code)
                noted = _NOTED.fullmatch(each.metadata or "")
                if noted:
                    last = max(last, _Note(int(noted[1]), topic.name))
        return last

    async def _count(self, topic: str) -> int:
        await self._cluster.wait_for_topic(topic, timeout_s=self._settings.max_block_ms / 1000)
        await self._again(self._cluster.refresh_if_stale)
        return len(self._cluster.metadata.partitions_of(topic))

    async def _again(self, attempt: Callable[[], Awaitable[Result]]) -> Result:
        """Ask until there is an answer, for as long as `max.block.ms`."""
        wait_s = self._settings.max_block_ms / 1000
        last_error: KafkaError | None = None
        try:
            async with asyncio.timeout(wait_s):
                while True:
                    try:
                        return await attempt()
                    except KafkaError as error:
                        if not error.is_retriable:
                            raise
                        last_error = error
                        self._group.forget()
                    await self._cluster.back_off()
        except TimeoutError:
            reason = f"{self._settings.transactional_id}: {last_error or 'no answer'}"
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"{reason}, for {wait_s:g} s") from None


def _raise_for(number: int) -> None:
    if number:
        code = ErrorCode(number)
        raise KafkaError(code, f"OffsetFetch: {code.name}")
