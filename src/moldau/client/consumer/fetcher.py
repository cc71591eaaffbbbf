"""Fetches ahead of the user, from the leaders of all assigned partitions at once."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from moldau.client.connection.cluster import Cluster
from moldau.client.consumer.assignment import Assigned, Assignment, Chunk
from moldau.client.consumer.fetch_session import FIRST_EPOCH, FetchSession, ReadPosition
from moldau.client.metrics import Latencies, Metrics
from moldau.client.older_records import as_batches
from moldau.client.settings import ConsumerSettings
from moldau.client.truncation import Truncation
from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.model import TopicPartition
from moldau.protocol.messages.fetch import FetchRequest, FetchResponse, PartitionData
from moldau.records.batch import MAGIC, MAGIC_POSITION, RECORDS_POSITION
from moldau.records.fetched import AbortedProducer, Selection, next_offset_after
from moldau.records.rows import Deserializers, read_rows
from moldau.runtime.waiters import Waiters

_log = logging.getLogger(__name__)

FETCHED = "fetched"
CHANNEL = "fetch"
_SESSION_ERRORS = (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.INVALID_FETCH_SESSION_EPOCH)
_LOOKS_S = 1.0

Locate = Callable[[Sequence[Assigned]], Awaitable[None]]
"""Gives positions to partitions that have none."""


class FetchInFlight(NamedTuple):
    """A partition of which more was asked for, as it was then."""

    place: ReadPosition
    version: int


class Fetcher:
    """One request at a time to each leader, while there is room for what it answers."""

    def __init__(
        self, cluster: Cluster, assignment: Assignment, waiters: Waiters, locate: Locate
    ) -> None:
        assert isinstance(cluster.settings, ConsumerSettings)
        self._settings: ConsumerSettings = cluster.settings
        self._cluster = cluster
        self._assignment = assignment
        self._waiters = waiters
        self._locate = locate
        self._truncation = Truncation(cluster, assignment, self._settings.auto_offset_reset)
        self._wake = asyncio.Event()
        self._sessions: dict[int, FetchSession] = {}
        self._fetching: set[int] = set()
        self._is_locating = False
        self._latencies = Latencies()
        self._fetched_bytes = 0
        self._tasks: asyncio.TaskGroup
        self.deserializers: Deserializers = (None, None)
        self.failure: KafkaError | None = None
        """The error to raise to the user; the code that raises it clears it."""

    def metrics(self) -> Metrics:
        """What was fetched so far."""
        return {
            "fetch-total": self._latencies.count,
            "bytes-consumed-total": self._fetched_bytes,
            **self._latencies.metrics("fetch"),
        }

    def wake(self) -> None:
        """Look again at what is wanted."""
        self._wake.set()

    async def run(self) -> None:
        """Fetch until cancelled."""
        async with asyncio.TaskGroup() as self._tasks:
            while True:
                self._wake.clear()
                self._begin_locating()
                self._begin_fetches()
                try:
                    async with asyncio.timeout(_LOOKS_S):  # metadata grows old by itself
                        await self._wake.wait()
                except TimeoutError:
                    continue

    def _begin_locating(self) -> None:
        """Look up positions and leaders, if any are missing."""
        topics = sorted({each.partition.topic for each in self._assignment})
        is_needed = (
            self._is_stale(topics) or self._assignment.without_position() or self._truncation.due()
        )
        if topics and is_needed and not self._is_locating:
            self._is_locating = True
            self._tasks.create_task(self._look_up(topics))

    async def _look_up(self, topics: list[str]) -> None:
        try:
            if self._is_stale(topics):
                await self._cluster.refresh(topics)
            unknown = self._assignment.without_position()
            if unknown:
                await self._locate(unknown)
            await self._truncation.check(self._truncation.due())
            if self._is_stale(topics):  # a partition has no leader yet
                await self._cluster.back_off()
        except KafkaError as error:
            if not error.is_retriable:
                self.fail(error)
            await self._cluster.back_off()
        finally:
            self._is_locating = False
            self.wake()

    def _is_stale(self, topics: list[str]) -> bool:
        return self._cluster.metadata.is_stale(topics, now_ms=self._cluster.clock.monotonic_ms())

    def _begin_fetches(self) -> None:
        if self._assignment.buffered_bytes >= self._settings.fetch_max_bytes:
            return
        metadata = self._cluster.metadata
        now_ms = self._cluster.clock.monotonic_ms()
        by_leader: dict[int, list[Assigned]] = {}
        for assigned in self._assignment.fetchable():
            if now_ms < assigned.rests_until_ms or self._truncation.is_due(assigned):
                continue
            leader = self._source_of(assigned)
            if leader is None:
                metadata.doubt(assigned.partition)
            elif leader not in self._fetching:
                by_leader.setdefault(leader, []).append(assigned)
        for leader, wanted in by_leader.items():
            self._fetching.add(leader)
            self._tasks.create_task(self._fetch(leader, wanted))

    def _source_of(self, assigned: Assigned) -> int | None:
        """The broker to read from: the replica that the leader named, or the leader."""
        is_over = self._cluster.clock.monotonic_ms() >= assigned.read_from_until_ms
        if is_over or assigned.read_from not in self._cluster.metadata.brokers:
            assigned.read_from = None
        if assigned.read_from is not None:
            return assigned.read_from
        return self._cluster.metadata.leader_of(assigned.partition)

    async def _fetch(self, leader: int, wanted: list[Assigned]) -> None:
        session = self._sessions.setdefault(leader, FetchSession())
        epoch_of = self._cluster.metadata.leader_epoch_of
        asked = {
            each.partition: FetchInFlight(
                ReadPosition(each.fetch_offset, epoch_of(each.partition)), each.version
            )
            for each in wanted
        }
        try:
            request = self._request(session, asked)
            wait_s = self._cluster.timeout_s + self._settings.fetch_max_wait_ms / 1000
            began_ns = self._cluster.clock.monotonic_ns()
            answer = await self._cluster.ask(
                leader, request, FetchResponse, channel=CHANNEL, timeout_s=wait_s
            )
            self._latencies.note((self._cluster.clock.monotonic_ns() - began_ns) / 1e9)
            if answer.error_code in _SESSION_ERRORS:
                session.restart()
                if request.session_epoch == FIRST_EPOCH:  # a broker that wants no session at all
                    await self._cluster.back_off()
            else:
                self._raise_for(answer)
                session.answered(answer.session_id)
                self._take(answer, asked)
        except KafkaError as error:
            session.restart()
            for each in wanted:
                each.read_from = None
                self._cluster.metadata.doubt(each.partition)
            if not error.is_retriable:
                self.fail(error)
            await self._cluster.back_off()
        finally:
            self._fetching.discard(leader)
            self.wake()

    def _request(
        self, session: FetchSession, asked: Mapping[TopicPartition, FetchInFlight]
    ) -> FetchRequest:
        places = {partition: each.place for partition, each in asked.items()}
        return FetchRequest(
            max_wait_ms=self._settings.fetch_max_wait_ms,
            min_bytes=self._settings.fetch_min_bytes,
            max_bytes=self._settings.fetch_max_bytes,
            isolation_level=int(self._settings.isolation_level == "read_committed"),
            session_id=session.session_id,
            session_epoch=session.epoch,
            topics=session.topics(places, self._settings.max_partition_fetch_bytes),
            forgotten_topics_data=session.forgotten(),
            rack_id=self._settings.client_rack,
        )

    @staticmethod
    def _raise_for(answer: FetchResponse) -> None:
        if answer.error_code:
            raise KafkaError(ErrorCode(answer.error_code))

    def _take(self, answer: FetchResponse, asked: Mapping[TopicPartition, FetchInFlight]) -> None:
        for topic in answer.responses:
            for data in topic.partitions:
                partition = TopicPartition(topic.topic, data.partition_index)
                was = asked.get(partition)
                assigned = None if was is None else self._assignment.get(partition, was.version)
                if was is None or assigned is None:
                    continue  # not read any more, or from elsewhere
                if assigned.fetch_offset != was.place.offset:
                    continue  # another broker leads by now, and has answered before this one
                if data.error_code:
                    self._take_error(assigned, ErrorCode(data.error_code))
                else:
                    # What the leader answers, it answers in the epoch in which it was asked.
                    assigned.validated_epoch = was.place.leader_epoch
                    self._take_records(assigned, data)
        self._waiters.wake(FETCHED)

    def _take_error(self, assigned: Assigned, code: ErrorCode) -> None:
        error = KafkaError(code, f"{assigned.partition}: {code.name}")
        self._rest(assigned)
        is_of_follower = assigned.read_from is not None
        assigned.read_from = None
        if code is ErrorCode.OFFSET_OUT_OF_RANGE and is_of_follower:
            return  # it lags behind: the leader knows
        if code is ErrorCode.OFFSET_OUT_OF_RANGE:
            _log.info("Offset %d of %s is out of range", assigned.fetch_offset, assigned.partition)
            assigned.lose_position()
        elif error.is_retriable:
            self._cluster.metadata.doubt(assigned.partition)
        else:
            self.fail(error)

    def _take_records(self, assigned: Assigned, data: PartitionData) -> None:
        is_committed_only = self._settings.isolation_level == "read_committed"
        is_stable_known = is_committed_only and data.last_stable_offset >= 0
        assigned.end_offset = data.last_stable_offset if is_stable_known else data.high_watermark
        if data.preferred_read_replica >= 0:
            assigned.read_from = data.preferred_read_replica
            now_ms = self._cluster.clock.monotonic_ms()
            assigned.read_from_until_ms = now_ms + self._settings.metadata_max_age_ms
        records = data.records
        if records is None or len(records) == 0:
            return
        assert isinstance(records, memoryview), "a decoded answer has views"
        if len(records) > MAGIC_POSITION and records[MAGIC_POSITION] < MAGIC:
            records = self._as_batches(assigned, records)
        aborted = tuple(
            AbortedProducer(each.producer_id, each.first_offset)
            for each in data.aborted_transactions or ()
        )
        selection = Selection(
            assigned.fetch_offset, aborted=aborted, check_crc=self._settings.check_crcs
        )
        next_offset = next_offset_after(records, selection)
        if next_offset > assigned.fetch_offset:
            reader = read_rows(records, selection, assigned.partition, self.deserializers)
            assigned.add(Chunk(reader, next_offset, records, selection))
            self._fetched_bytes += len(records)
        elif len(records) >= RECORDS_POSITION:
            reason = f"{assigned.partition} at offset {assigned.fetch_offset}: no sound batch"
            self._rest(assigned)
            self.fail(KafkaError(ErrorCode.CORRUPT_MESSAGE, reason))

    def _rest(self, assigned: Assigned) -> None:
        """Leave a partition alone for a while; the others of its leader go on."""
        backoff_ms = self._settings.retry_backoff_ms
        assigned.rests_until_ms = self._cluster.clock.monotonic_ms() + backoff_ms
        asyncio.get_running_loop().call_later((backoff_ms + 1) / 1000, self.wake)

    def _as_batches(self, assigned: Assigned, messages: memoryview) -> memoryview:
        """What older brokers keep, as batches; none if the user must get an error first."""
        where = f"{assigned.partition} at offset {assigned.fetch_offset}"
        try:
            batches = as_batches(messages)
        except (KafkaError, ProtocolError) as error:
            self._rest(assigned)
            self.fail(KafkaError(ErrorCode.CORRUPT_MESSAGE, f"{where}: {error}"))
            return memoryview(b"")
        if not batches:  # such brokers do not send a message whole that is larger than asked for
            reason = f"{where}: the message exceeds max.partition.fetch.bytes"
            self._rest(assigned)
            self.fail(KafkaError(ErrorCode.MESSAGE_TOO_LARGE, reason))
        return batches

    def fail(self, error: KafkaError) -> None:
        """Have the error raised to the user."""
        self.failure = error
        self._waiters.wake(FETCHED)
