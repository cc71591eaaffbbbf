"""One connection to a leader, and the requests that are sent on it one after the other."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, cast

from moldau.config.broker.replication import ReplicationConfig
from moldau.errors import ErrorCode
from moldau.log.log import Log
from moldau.model import TopicPartition
from moldau.protocol.inter_broker import version_of
from moldau.protocol.messages.fetch import (
    FetchRequest,
    FetchResponse,
    PartitionData,
    ReplicaState,
)
from moldau.protocol.messages.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from moldau.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from moldau.replication import follower_requests, plain_fetch
from moldau.replication.fetch_session import FetchPosition, Key, ReplicaFetchSession, Said
from moldau.replication.fetcher import FIRST_BACKOFF_MS, Ends, FetchPhase, Following, ReplicaFetcher
from moldau.replication.partition import Partition
from moldau.replication.throttle import Throttle
from moldau.runtime.clock import Clock, Moment
from moldau.runtime.metrics import Counter
from moldau.runtime.waiters import Waiters

_log = logging.getLogger(__name__)

_DIVERGENCE_SINCE = 12
# The last version of Fetch that names topics; later ones use their ids.
_NAMED_UP_TO = 12
_REPLICA_STATE_SINCE = 15
# To say a partition again takes both sides about a fiftieth of this: interruptions may take
# so much of a processor at the most.
_MS_PER_SAID = 2
_DOUBTED_MS = 1_000
"""By then the controller has had another broker lead, or the leader is not gone."""


Reply = Callable[[memoryview, int], bytes | None]
"""As in `moldau.net.channel`: gets an answer as it comes, and gives the next request."""


class LeaderChannel(Protocol):
    """A way to a leader: `moldau.net.channel`."""

    async def call(self, request: object, version: int, reply: Reply | None = None) -> object:
        """The answer, unless `reply` has dealt with it; OSError if there is none."""

    def close(self) -> None:
        """Hang up, also on a call that waits."""


OpenChannel = Callable[[int], LeaderChannel | None]
"""Opens a channel to a broker; None as long as its address is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What all fetchers of a broker have in common."""

    replica_id: int
    protocol: str
    """The cluster's `inter.broker.protocol.version`."""
    open_channel: OpenChannel
    config: Callable[[], ReplicationConfig]
    clock: Clock
    throttle: Throttle
    make_durable: Callable[[Log], Awaitable[None]] | None = None
    """Waits for the sync that `flush.messages` may ask for after an append."""
    bytes_in: Counter = field(default_factory=Counter)

    @property
    def truncates_by_fetch(self) -> bool:
        """Whether leaders say in their answers where the logs part (KIP-595)."""
        return version_of(FetchRequest, self.protocol) >= _DIVERGENCE_SINCE

    def now(self) -> Moment:
        """This moment by both clocks."""
        return Moment.of(self.clock)


class FetchLoop:
    """Asks for what the fetcher's partitions need, and gives it the answers."""

    def __init__(self, leader: int, terms: Terms, waiters: Waiters) -> None:
        self._leader = leader
        self._terms = terms
        self._waiters = waiters
        self._session = ReplicaFetchSession()
        self._channel: LeaderChannel | None = None
        self._is_parked = False
        self._may_interrupt_ms = 0
        self._failures = 0
        self._has_answered = False
        self._lost_since_ms: int | None = None
        self._has_changed = asyncio.Event()
        self.fetcher = ReplicaFetcher(
            backoff_max_ms=terms.config().replica_fetch_backoff_ms,
            truncates_by_fetch=terms.truncates_by_fetch,
        )
        self._plain = plain_fetch.PlainFetch(self.fetcher, self._session, terms, waiters)

    # What others call

    @property
    def leader_in_doubt(self) -> int | None:
        """The leader, while it seems to be gone: it has hung up, and not answered since."""
        since_ms = self._lost_since_ms
        if since_ms is None or self._terms.now().monotonic_ms - since_ms >= _DOUBTED_MS:
            return None
        return self._leader

    def follow(self, partition: Partition) -> None:
        """Begin with a partition."""
        self.fetcher.follow(partition, self._terms.now())

    def drop(self, name: TopicPartition) -> None:
        """Have nothing more to do with a partition."""
        self.fetcher.drop(name)

    def interrupt(self) -> None:
        """Ask anew: there are partitions that a waiting request does not know of.

        To close costs a new session, in which all is sent again. Where many topics come one
        after the other, most of them rather wait until the request is answered.
        """
        self._has_changed.set()
        now_ms = self._terms.now().monotonic_ms
        if self._is_parked and now_ms >= self._may_interrupt_ms:
            self._may_interrupt_ms = now_ms + len(self._session) * _MS_PER_SAID
            self._hang_up()

    async def run(self) -> None:
        """Ask until cancelled."""
        try:
            while True:
                try:
                    await self._ask()
                except OSError as error:
                    await self._fail(error)
                else:
                    self._failures = 0
                    self._has_answered = True
                    self._lost_since_ms = None
        finally:
            self._hang_up()

    # Asking

    async def _ask(self) -> None:
        now, fetcher, terms = self._terms.now(), self.fetcher, self._terms
        self._has_changed.clear()
        if self._channel is None:
            self._channel = terms.open_channel(self._leader)
            if self._channel is None:
                raise ConnectionError(f"no address known for broker {self._leader}")
        channel = self._channel
        if truncating := fetcher.due(FetchPhase.TRUNCATING, now):
            await self._ask_epoch_ends(channel, truncating)
        elif lost := fetcher.due(FetchPhase.LOST, now):
            await self._ask_ends(channel, lost)
        else:
            await self._fetch(channel)

    async def _ask_epoch_ends(self, channel: LeaderChannel, asked: list[Following]) -> None:
        request = follower_requests.epoch_ends_request(asked, self._terms.replica_id)
        version = version_of(OffsetForLeaderEpochRequest, self._terms.protocol)
        response = await channel.call(request, version)
        now, by_name = self._terms.now(), {one.name: one for one in asked}
        for name, code, end in follower_requests.epoch_ends(
            cast("OffsetForLeaderEpochResponse", response)
        ):
            following = by_name.get(name)
            if following is None:
                continue
            if code == ErrorCode.NONE:
                self.fetcher.take_epoch_end(following, end, now)
            else:
                self.fetcher.take_error(following, code, now)

    async def _ask_ends(self, channel: LeaderChannel, asked: list[Following]) -> None:
        ends = await self._offsets(channel, asked, follower_requests.LATEST)
        starts = await self._offsets(channel, asked, follower_requests.EARLIEST)
        now = self._terms.now()
        for one in asked:
            if one.name in starts and one.name in ends:
                self.fetcher.take_ends(one, Ends(starts[one.name], ends[one.name]), now)

    async def _offsets(
        self, channel: LeaderChannel, asked: list[Following], timestamp: int
    ) -> Mapping[TopicPartition, int]:
        request = follower_requests.offsets_request(asked, self._terms.replica_id, timestamp)
        version = version_of(ListOffsetsRequest, self._terms.protocol)
        response = await channel.call(request, version)
        found, by_name = {}, {one.name: one for one in asked}
        for name, code, offset in follower_requests.offsets(cast("ListOffsetsResponse", response)):
            if code == ErrorCode.NONE:
                found[name] = offset
            elif name in by_name:
                self.fetcher.take_error(by_name[name], code, self._terms.now())
        return found

    async def _fetch(self, channel: LeaderChannel) -> None:
        request, version = self._next_fetch()
        if not len(self._session):
            await self._pause(self._wait_ms(self._terms.config().replica_fetch_backoff_ms))
            return
        self._is_parked = True
        try:
            reply = self._reply_in(version)
            response = cast("FetchResponse | None", await channel.call(request, version, reply))
        finally:
            self._is_parked = False
        if self._channel is not channel:
            # Interrupted just when the answer came: what it answers has been forgotten.
            raise ConnectionError("hung up")
        if response is None:
            return
        if response.error_code != ErrorCode.NONE:
            self._session.restart()
            await self._pause(0 if self._session.is_over(response.error_code) else FIRST_BACKOFF_MS)
            return
        now = self._terms.now()
        for key, data in follower_requests.fetched(response):
            asked = self._session.asked(key)
            if asked is not None:
                await self._take(*asked, data, now)
        self._session.answered(response.session_id)

    def _reply_in(self, version: int) -> Reply | None:
        """What takes the answers of a session that stands, as long as they are plain."""
        if self._session.is_fresh or version < plain_fetch.VERSION_MIN:
            return None
        self._plain.begin(version)
        return self._reply

    def _reply(self, frame: memoryview, position: int) -> bytes | None:
        # An interruption means a change that the fast path does not handle.
        return None if self._has_changed.is_set() else self._plain.reply(frame, position)

    async def _take(
        self, name: TopicPartition, wanted: FetchPosition, data: PartitionData, now: Moment
    ) -> None:
        following = self.fetcher.get(name)
        if following is None or following.leader_epoch != wanted.leader_epoch:
            return  # it has left, or come again, while the request was under way
        if data.error_code != ErrorCode.NONE:
            self.fetcher.take_error(following, data.error_code, now)
            return
        answer = follower_requests.answer(data, wanted.offset)
        if self._plain.take(following, answer, now) and self._terms.make_durable is not None:
            # The next fetch acknowledges them to the leader.
            await self._terms.make_durable(following.partition.log)

    def _next_fetch(self) -> tuple[FetchRequest, int]:
        """The next request of the session, and its version."""
        now, session = self._terms.now(), self._session
        newest = version_of(FetchRequest, self._terms.protocol)
        touched = self.fetcher.take_touched(now)
        uses_ids = newest > _NAMED_UP_TO and not any(map(_has_no_id, touched.values()))
        if not session.is_fresh and session.uses_ids and not uses_ids:
            session.restart()
        if session.is_fresh:
            due = self.fetcher.due(FetchPhase.FETCHING, now)
            touched = {one.name: one for one in due}
            uses_ids = newest > _NAMED_UP_TO and not any(map(_has_no_id, due))
        else:
            uses_ids = session.uses_ids
        changes = {
            name: None if one is None or self._is_held_up(one, now) else self._said(one, uses_ids)
            for name, one in touched.items()
        }
        version = newest if uses_ids else min(newest, _NAMED_UP_TO)
        return self._request(changes, version), version

    def _is_held_up(self, following: Following, now: Moment) -> bool:
        if not self._plain.is_held_up(following, now):
            return False
        self.fetcher.touch(following.name)
        return True

    def _request(self, changes: Mapping[TopicPartition, Said | None], version: int) -> FetchRequest:
        config, replica_id = self._terms.config(), self._terms.replica_id
        topics, forgotten = self._session.next(changes, uses_ids=version > _NAMED_UP_TO)
        has_state = version >= _REPLICA_STATE_SINCE
        return FetchRequest(
            replica_id=-1 if has_state else replica_id,
            replica_state=ReplicaState(replica_id=replica_id) if has_state else None,
            # A leader that has hung up is to answer at once: clients want to know if it is there.
            max_wait_ms=(
                self._wait_ms(config.replica_fetch_wait_max_ms)
                if self._lost_since_ms is None
                else 0
            ),
            min_bytes=config.replica_fetch_min_bytes,
            max_bytes=config.replica_fetch_response_max_bytes,
            session_id=self._session.session_id,
            session_epoch=self._session.epoch,
            topics=topics,
            forgotten_topics_data=forgotten,
        )

    def _said(self, following: Following, uses_ids: bool) -> Said:
        name, number = following.name
        topic = following.partition.log.topic_id if uses_ids else name
        assert topic is not None
        max_bytes = self._terms.config().replica_fetch_max_bytes
        says_epoch = self._terms.truncates_by_fetch
        return Said(
            Key(topic, number),
            follower_requests.wanted(following, max_bytes, says_epoch=says_epoch),
        )

    # Waiting

    def _wait_ms(self, limit_ms: int) -> int:
        """How long nothing has to be asked: until the first partition may be tried again."""
        now = self._terms.now()
        deadline_ms = self.fetcher.next_deadline_ms(now)
        if deadline_ms is None:
            return limit_ms
        return min(limit_ms, deadline_ms - now.monotonic_ms)

    async def _fail(self, error: OSError) -> None:
        self._hang_up()
        if self._has_changed.is_set():
            return  # this side closed
        self._failures += 1
        is_lost = self._has_answered and not isinstance(error, TimeoutError)
        if is_lost and self._lost_since_ms is None:
            self._lost_since_ms = self._terms.now().monotonic_ms
        if self._failures == 1:
            _log.info("Failed to fetch from broker %d: %s", self._leader, error)
            if is_lost:
                return  # who still serves is called again at once
        delay_ms = FIRST_BACKOFF_MS << min(self._failures, 16)
        await self._pause(min(delay_ms, self._terms.config().replica_fetch_backoff_ms))

    async def _pause(self, limit_ms: int) -> None:
        try:
            async with asyncio.timeout(limit_ms / 1000):
                await self._has_changed.wait()
        except TimeoutError:
            pass

    def _hang_up(self) -> None:
        self._session.restart()
        if self._channel is not None:
            self._channel.close()
            self._channel = None


def _has_no_id(following: Following | None) -> bool:
    return following is not None and following.partition.log.topic_id is None
