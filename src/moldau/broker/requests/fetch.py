"""Fetch: from a parsed request to the outcomes of its partitions, at once or after a wait.

The handler and the fast path both end up here; they only differ in how a request is decoded
and its answer encoded, and in whether long lists are worked through in turns (`run`) or not
(`start`, `look`, `outcomes`). A request waits without a coroutine: it is registered to be
woken when something happens to its partitions, and with a timer.

This file runs as it stands and is also compiled as `_fetch`, with the types of `_fetch.pxd`.
"""

import asyncio
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.broker.requests.fetch_request import (
    CONSUMER,
    FINAL_EPOCH,
    NO_SESSION,
    READ_COMMITTED,
    ParsedFetch,
    PartitionKey,
)
from moldau.broker.requests.fetch_rights import denials_of, everything
from moldau.broker.requests.fetch_sessions import Fetch
from moldau.broker.requests.fetched_records import CONVERTED_BEFORE, allowance_of_request, convert
from moldau.broker.requests.follower_sessions import FollowerSession, note_fetch, note_sent
from moldau.broker.requests.nearest_replica import NearestReplica
from moldau.broker.requests.reads import ReadTerms, is_high_watermark_news
from moldau.model import TopicPartition
from moldau.replication.read_replica import selects_by_rack

if not cython.compiled:
    from moldau.broker.quotas.client_sensors import ClientSensors, charge, sensors_of
    from moldau.broker.requests.reads import PartitionRead, PartitionReader

if TYPE_CHECKING:
    from moldau.broker.broker import Broker
    from moldau.broker.context import Context
    from moldau.metadata.image import ClusterImage
    from moldau.runtime.waiters import Watch

OPERATION = "Fetch"
_AT_LEAST_ONE_SINCE = 3
_FOLLOWERS_READ_SINCE = 11
# More are worked through in turns with the other work of the loop.
PARTITIONS_AT_ONCE_MAX = 200
# What an answer says of a partition, beside its records.
_PARTITION_BYTES = 40

_new = tuple.__new__  # a third of the time of a named tuple's own


class FetchOperation:
    """One request, from its session to its outcomes."""

    __slots__ = (
        "_answered_ms", "_changed", "_fetch", "_is_look_due", "_is_time_up", "_min_bytes",
        "_nearest", "_reads", "_sensors", "_session", "_terms", "_timer", "_watch", "_watched",
        "broker", "request", "throttle_ms",
    )  # fmt: skip

    def __init__(self, broker: "Broker", request: ParsedFetch) -> None:
        """Begin, or go on with, the session; raises the error that refuses the whole request."""
        now_ms = broker.clock.monotonic_ms()
        is_denied = None
        if broker.authorizer.is_enforcing:
            is_denied = denials_of(broker.authorizer, request)
            if is_denied is everything:
                # No session either: those of followers are worth more than others.
                request = request._replace(session_id=NO_SESSION, session_epoch=FINAL_EPOCH)
        self.broker = broker
        self.request = request
        self._fetch = fetch = broker.fetch_sessions.begin(request, now_ms=now_ms)
        config = broker.config.replication
        is_rack_aware = selects_by_rack(config.replica_selector_class)
        is_follower = request.replica_id >= 0
        max_bytes = min(request.max_bytes, config.fetch_max_bytes)
        self._sensors: ClientSensors | None = None
        self._answered_ms = now_ms
        if broker.quotas.is_set and not is_follower:
            max_bytes = self._allowed(max_bytes)
        self._min_bytes = min(request.min_bytes, max_bytes)
        self.throttle_ms = 0
        """How long the client is to wait for what it would have read; its answer is empty then."""
        self._terms = ReadTerms(
            max_bytes,
            request.replica_id,
            request.isolation_level == READ_COMMITTED,
            request.version >= _AT_LEAST_ONE_SINCE,
            request.version >= _FOLLOWERS_READ_SINCE and request.replica_id == CONSUMER,
            is_rack_aware and is_follower,
            broker.leader_throttle if is_follower else None,
            now_ms,
            is_denied,
        )
        self._nearest: NearestReplica | None = None
        if is_rack_aware and not is_follower and request.rack_id:
            self._nearest = NearestReplica(
                broker.metadata.image, request.client.listener, request.rack_id
            )
        self._session: FollowerSession | None = None
        if is_follower and fetch.is_incremental:
            self._session = broker.follower_sessions.of(fetch.session_id, request.replica_id)
            self._session.begin(fetch, broker.metadata.image.names_by_id, now_ms=now_ms)
            self._reads = _due_of(fetch, self._session)
        else:
            self._reads = _all_of(fetch, broker.metadata.image)
        self._changed: Callable[[], None] | None = None
        self._watch: Watch | None = None
        self._watched: tuple[Hashable, ...] = ()
        self._timer: asyncio.TimerHandle | None = None
        self._is_look_due = self._is_time_up = False

    @property
    def session_id(self) -> int:
        """The session for the answer; none begins with an empty one, which clients pass over."""
        if self.throttle_ms and not self._fetch.is_incremental:
            return NO_SESSION
        return self._fetch.session_id

    # Without turns

    def start(self) -> bool:
        """Read what there is; whether that is to be sent, or waited with."""
        reader = PartitionReader(self.broker.replicas, self._terms)
        for read in self._reads.values():
            self._read_first(reader, read)
        return self._end_read()

    def look(self) -> bool:
        """Read again; whether the wait is over."""
        self._renew()
        reader = PartitionReader(self.broker.replicas, self._terms)
        for read in self._reads.values():
            reader.read(read)
        return self._end_read()

    def outcomes(self) -> list[PartitionRead]:
        """What the answer says, in its order: counted, and remembered by the session."""
        if self._must_throttle(self._changed is not None):
            return []
        self._note_sent()
        for read in self._reads.values():
            self._settle(read)
        return self._selected()

    # In turns

    async def run(self, context: "Context") -> list[PartitionRead]:
        """All of it, with waits, conversion for old clients, and turns for others."""
        reader = PartitionReader(self.broker.replicas, self._terms)
        async for read in context.each(self._reads.values()):
            self._read_first(reader, read)
        if not self._end_read():
            await self._wait(context)
        if self._must_throttle(has_waited=True):  # or had turns
            return []
        self._note_sent()
        version = self.request.version
        if version < CONVERTED_BEFORE:
            allowance = allowance_of_request()
            for read in self._reads.values():
                await convert(read, self._terms, version, allowance)
        async for read in context.each(self._reads.values()):
            self._settle(read)
        return self._selected()

    async def _wait(self, context: "Context") -> None:
        changed = asyncio.Event()
        self.watch(changed.set)
        try:
            while True:
                changed.clear()
                # Also before the first wait: a change between two turns wakes nothing.
                self._renew()
                reader = PartitionReader(self.broker.replicas, self._terms)
                async for read in context.each(self._reads.values()):
                    reader.read(read)
                if self._end_read():
                    return
                await changed.wait()
        finally:
            self.cancel()

    # Reading

    def _read_first(self, reader: PartitionReader, read: PartitionRead) -> None:
        """Read for the first time: how far a follower is, or which replica is nearer, counts."""
        reader.read(read)
        if read.error is not None or read.diverging is not None:
            return
        if self._nearest is not None:
            self._nearest.refer(read)
        elif self._terms.replica_id >= 0 and (
            self._session is None or read.key in self._fetch.changed
        ):
            note_fetch(self.broker, read, self._terms)

    def _renew(self) -> None:
        """See in a follower's session what there is to read by now."""
        if self._session is not None:
            self._reads = _due_of(self._fetch, self._session)

    def _end_read(self) -> bool:
        """All is read; whether it is to be sent, or waited with."""
        if self._session is not None:
            self._session.note_read(self._reads, now_ms=self.broker.clock.monotonic_ms())
        return not self._must_wait()

    def _must_wait(self) -> bool:
        """Whether there is too little to send, and time left to wait for more."""
        request, reads = self.request, self._reads
        if self._is_time_up or request.max_wait_ms <= 0:
            return False
        if not reads and self._session is None:
            return False
        size = 0
        for read in reads.values():
            records = read.records
            if records is not None:
                size += len(records)
            elif read.is_answer_due:
                return False
        return size < self._min_bytes and not self._has_high_watermark_news()

    def _has_high_watermark_news(self) -> bool:
        terms = self._terms
        return terms.follows_high_watermark and any(
            is_high_watermark_news(read.partition, terms)
            for read in self._reads.values()
            if read.partition is not None
        )

    # Waiting

    def watch(self, changed: Callable[[], None]) -> None:
        """Begin to wait; `changed` is called when it is time to read again."""
        waiters = self.broker.waiters
        self._changed = changed
        if self._session is not None:
            self._watch = self._session.watch
            self._watch.notify = self.note
        elif self._terms.replica_id == CONSUMER:
            self._watched = tuple({one.name: None for one in self._reads.values()})
            for name in self._watched:
                waiters.enlist(name, self)
        else:  # also wants what is not committed yet
            self._watch = waiters.watch()
            for one in self._reads.values():
                self._watch.add(one.name)
            self._watch.notify = self.note
        waiters.counts[OPERATION] += 1
        delay_s = self.request.max_wait_ms / 1000
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._time_out)

    def cancel(self) -> None:
        """Wait no more."""
        if self._timer is None:
            return
        self._timer.cancel()
        self._timer = None
        waiters, watch = self.broker.waiters, self._watch
        waiters.counts[OPERATION] -= 1
        if watch is None:
            for name in self._watched:
                waiters.dismiss(name, self)
        elif self._session is None:
            watch.close()
        elif watch.notify == self.note:  # or another request of the session waits by now
            watch.notify = None

    def note(self, key: Hashable = None) -> None:  # noqa: ARG002 - as a watcher has it
        """Something happened to a partition: to read again, after all that comes with it."""
        if not self._is_look_due:
            self._is_look_due = True
            asyncio.get_running_loop().call_soon(self._call_changed)

    def _time_out(self) -> None:
        self._is_time_up = True
        self._call_changed()

    def _call_changed(self) -> None:
        self._is_look_due = False
        if self._timer is not None and self._changed is not None:
            self._changed()

    # Answering

    def _allowed(self, max_bytes: int) -> int:
        """How much the answer may have so that it can pass the client's quota at all."""
        request = self.request
        self._sensors = sensors_of(self.broker.quotas, request.client, request.client_id)
        allowed = self._sensors.fetch_bytes_max()
        return allowed if allowed < max_bytes else max_bytes

    def _must_throttle(self, has_waited: bool) -> bool:
        """Whether the client has had so much lately that it gets nothing but a time to wait."""
        quotas, request = self.broker.quotas, self.request
        if not quotas.is_set or self._terms.replica_id >= 0:
            return False
        size = 0
        for read in self._reads.values():
            records = read.records
            if records is not None:
                size += len(records) + _PARTITION_BYTES
        if has_waited or self._sensors is None:
            self._sensors = sensors_of(quotas, request.client, request.client_id)
            self._answered_ms = self.broker.clock.monotonic_ms()
        self.throttle_ms = self._sensors.fetched(size, self._answered_ms)
        if not self.throttle_ms:
            return False
        self.broker.fetch_sessions.forget_new(self._fetch)
        return True

    def charge(self, spent_ns: int) -> int:
        """After `outcomes`, where quotas are set: for how many milliseconds the client waits."""
        if self._sensors is None:
            self.broker.quotas.note_exempt(spent_ns)  # a follower
            return 0
        client = self.request.client
        return charge(client, self._sensors, spent_ns, self._answered_ms, self.throttle_ms)

    def _note_sent(self) -> None:
        terms = self._terms
        if terms.replica_id < 0:
            return
        if self._session is not None:
            self._session.end(self._reads, terms)
        note_sent(self.broker, self._reads, terms, now_ms=self.broker.clock.monotonic_ms())

    def _settle(self, read: PartitionRead) -> None:
        """Fix what the answer says of a partition, and count it.

        What followers get is counted apart, and for all topics together, as Kafka does.
        """
        traffic = self.broker.traffic
        partition = read.partition
        if read.error is not None or partition is None:
            traffic.all.failed_fetch_requests.value += 1
            return
        read.take_bounds()
        of_topic, of_all = traffic.of(partition.topic_partition.topic), traffic.all
        of_topic.fetch_requests.value += 1
        of_all.fetch_requests.value += 1
        if read.records is not None:
            size = len(read.records)
            if self._terms.replica_id >= 0:
                traffic.replication_bytes_out.value += size
            else:
                of_topic.bytes_out.value += size
                of_all.bytes_out.value += size

    def _selected(self) -> list[PartitionRead]:
        reads = self._reads
        return [reads[key] for key in self._fetch.select(reads)]


def is_long(broker: "Broker", request: ParsedFetch) -> bool:
    """Whether so many partitions are to be read that it should be done in turns."""
    count = len(request.wanted)
    session_id = request.session_id
    # Once a follower's session has begun, only those are read that have changed.
    if session_id and session_id not in broker.follower_sessions:
        count += broker.fetch_sessions.size_of(session_id)
    return count > PARTITIONS_AT_ONCE_MAX


def _due_of(fetch: Fetch, session: FollowerSession) -> dict[PartitionKey, PartitionRead]:
    """What has changed in a follower's session."""
    return {key: PartitionRead(key, name, want) for key, name, want in session.due(fetch)}


def _all_of(fetch: Fetch, image: "ClusterImage") -> dict[PartitionKey, PartitionRead]:
    """All that is wanted, with the names of the topics."""
    reads = {}
    for key, want in fetch.wanted.items():
        topic, number = key
        name = topic if isinstance(topic, str) else image.names_by_id.get(topic)
        partition = None if name is None else _new(TopicPartition, (name, number))
        reads[key] = PartitionRead(key, partition, want)
    return reads
