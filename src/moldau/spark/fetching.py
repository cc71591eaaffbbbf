"""Fetches a range of offsets from the leader of its partition, ahead of the reader."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass

from moldau.client.consumer.fetch_session import NO_SESSION
from moldau.client.offset_lookup import EARLIEST, OffsetLookup
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from moldau.records.batch import MAGIC, MAGIC_POSITION
from moldau.records.fetched import AbortedProducer, Selection, next_offset_after
from moldau.spark.link import Link
from moldau.spark.planning import Range

_log = logging.getLogger(__name__)

_WITHOUT_SESSION = -1
# A gap at the end of a range, left by compaction or markers, may take some fetches to be passed.
_SILENCE_MAX_S = 120.0


@dataclass(frozen=True, slots=True)
class FetchedBytes:
    """What a broker sent of a partition, and which of it is wanted."""

    data: memoryview
    selection: Selection


class RangeFetch:
    """One range: while an answer is read, the request for what follows is already out."""

    def __init__(self, link: Link, wanted: Range, *, fails_on_data_loss: bool) -> None:
        self._link = link
        self._wanted = wanted
        self._fails_on_data_loss = fails_on_data_loss
        self._read_from: int | None = None
        """A replica that is nearer than the leader (KIP-392)."""

    def __iter__(self) -> Iterator[FetchedBytes]:
        offset, end = self._wanted.start, self._wanted.end
        under_way = self._link.begin(self._fetch(offset)) if offset < end else None
        try:
            while under_way is not None:
                fetched = self._link.wait(_result(under_way))
                if fetched is None:  # the log ends before the range does
                    return
                offset = next_offset_after(fetched.data, fetched.selection)
                self._check_progress(fetched, offset)
                under_way = self._link.begin(self._fetch(offset)) if offset < end else None
                yield fetched
        finally:
            if under_way is not None:
                under_way.cancel()

    async def _fetch(self, offset: int) -> FetchedBytes | None:
        """The next records from an offset on; again and elsewhere while errors pass."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _SILENCE_MAX_S
        while loop.time() < deadline:
            try:
                data = await self._ask(offset)
            except KafkaError as error:
                self._read_from = None
                if error.code is ErrorCode.OFFSET_OUT_OF_RANGE:
                    found = await self._pass_loss(offset)
                    if found is None:
                        return None
                    offset = found
                elif not error.is_retriable:
                    raise
                else:
                    self._link.cluster.metadata.doubt(self._wanted.partition)
                    await self._link.cluster.back_off()
                continue
            if data.preferred_read_replica >= 0:
                self._read_from = data.preferred_read_replica
            if data.records:
                assert isinstance(data.records, memoryview), "a decoded answer has views"
                return FetchedBytes(data.records, self._selection(offset, data))
        partition, start, end = self._wanted
        raise TimeoutError(f"{partition} gave nothing from {offset} to {end}, within {start}")

    async def _ask(self, offset: int) -> PartitionData:
        cluster, settings = self._link.cluster, self._link.settings
        partition = self._wanted.partition
        await cluster.wait_for_topic(partition.topic, timeout_s=cluster.timeout_s)
        await cluster.refresh_if_stale()
        leader = cluster.metadata.leader_of(partition)
        if leader is None:
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"{partition} has no leader")
        answer = await cluster.ask(
            leader if self._read_from is None else self._read_from,
            self._request(offset),
            FetchResponse,
            timeout_s=cluster.timeout_s + settings.fetch_max_wait_ms / 1000,
        )
        _raise_for(answer.error_code, partition)
        (topic,) = answer.responses
        (data,) = topic.partitions
        _raise_for(data.error_code, partition)
        return data

    def _request(self, offset: int) -> FetchRequest:
        settings, partition = self._link.settings, self._wanted.partition
        wanted = FetchPartition(
            partition=partition.partition,
            current_leader_epoch=self._link.cluster.metadata.leader_epoch_of(partition),
            fetch_offset=offset,
            partition_max_bytes=settings.max_partition_fetch_bytes,
        )
        return FetchRequest(
            max_wait_ms=settings.fetch_max_wait_ms,
            min_bytes=settings.fetch_min_bytes,
            max_bytes=settings.fetch_max_bytes,
            isolation_level=int(settings.isolation_level == "read_committed"),
            session_id=NO_SESSION,
            session_epoch=_WITHOUT_SESSION,
            topics=[FetchTopic(topic=partition.topic, partitions=[wanted])],
            forgotten_topics_data=[],
            rack_id=settings.client_rack,
        )

    def _selection(self, offset: int, data: PartitionData) -> Selection:
        aborted = tuple(
            AbortedProducer(each.producer_id, each.first_offset)
            for each in data.aborted_transactions or ()
        )
        return Selection(offset, self._wanted.end, aborted, self._link.settings.check_crcs)

    async def _pass_loss(self, offset: int) -> int | None:
        """Where to go on when a broker does not have an offset; None if nothing follows."""
        partition = self._wanted.partition
        lookup = OffsetLookup(self._link.cluster, is_committed_only=False)
        found = await lookup.find({partition: EARLIEST})
        first = found[partition].offset
        lost = _lost(partition, offset, first)
        if self._fails_on_data_loss:
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, lost)
        _log.warning("%s; going on", lost)
        return first if offset < first < self._wanted.end else None

    def _check_progress(self, fetched: FetchedBytes, next_offset: int) -> None:
        if next_offset > fetched.selection.start_offset:
            return
        where = f"{self._wanted.partition} at {fetched.selection.start_offset}"
        if len(fetched.data) > MAGIC_POSITION and fetched.data[MAGIC_POSITION] < MAGIC:
            reason = f"{where}: records in a format from before 0.11"
            raise KafkaError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, reason)
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"{where}: no sound batch")


async def _result(task: "asyncio.Task[FetchedBytes | None]") -> FetchedBytes | None:
    return await task


def _raise_for(number: int, partition: TopicPartition) -> None:
    if number:
        code = ErrorCode(number)
        raise KafkaError(code, f"{partition}: {code.name}")


def _lost(partition: TopicPartition, offset: int, first: int) -> str:
    where = f"begins at {first}" if first > offset else "ends before that"
    return (
        f"{partition} was to be read from {offset}, but {where}: records are gone, by "
        "retention or because the topic was deleted; with failOnDataLoss=false the rest is read"
    )
