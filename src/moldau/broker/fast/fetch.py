"""The shortest way of Fetch: a consumer without a session, of partitions that are led here.

This file runs as it stands and is also compiled as `_fetch`. Most consumers wait at the
end of their partitions most of the time, so what counts is how soon a record gets to those who
wait: here they wait without coroutine, task and future.

Whatever is not plain in any way is left to the handler of Fetch, also after a wait; here a request
is either answered as the handler would answer it, or nothing has changed.
"""

import asyncio
from collections.abc import Hashable
from itertools import groupby
from struct import Struct
from typing import TYPE_CHECKING

from moldau.broker.fast.fetch_frame import (
    FLEXIBLE_FROM,
    FRAME_SIZE_MAX,
    IDS_FROM,
    INT16,
    INT32,
    NO_EPOCH,
    NOT_PLAIN,
    RACK_FROM,
    NotPlain,
    Question,
    Want,
)
from moldau.net.answer import Parked, Part
from moldau.replication.read_replica import selects_by_rack

if TYPE_CHECKING:
    from moldau.broker.broker import Broker
    from moldau.broker.context import Client
    from moldau.broker.metrics.request_times import RequestTimes
    from moldau.log.transaction_index import AbortedTransaction
    from moldau.replication.partition import Partition
    from moldau.runtime.file_range import FileRange
    from moldau.runtime.metrics import Counter

    Counters = dict[int, Counter]

OPERATION = "Fetch"

# Size, correlation id; then throttle time, error and session.
_ANSWER = Struct(">iiihi")
_FLEXIBLE_ANSWER = Struct(">iixihi")
_ANSWER_PARTITION = Struct(">ihqqq")
_ABORTED = Struct(">qq")
_NO_REPLICA = b"\xff\xff\xff\xff"
_SIZE_BYTES = 4


Read = tuple[Want, "Fixed", "list[AbortedTransaction] | None", "FileRange | None"]
"""What a partition gave: numbers for the answer, aborted transactions, batches in a file."""
Fixed = tuple[int, int, int, int, int]


def _topic_of(read: Read) -> str:
    return read[0].topic


def _unsigned(number: int) -> bytes:
    """A number as the flexible versions write sizes."""
    written = b""
    while number >= 0x80:
        written += bytes((number & 0x7F | 0x80,))
        number >>= 7
    return written + bytes((number,))


class FetchExpress:
    """Answers plain requests, at once or when there is something to read."""

    def __init__(self, broker: "Broker", times: "RequestTimes", counters: "Counters") -> None:
        """`counters` count the requests by version; one that has none is the handler's."""
        self.broker = broker
        self.times = times
        self.counters = counters

    def respond(
        self,
        client: "Client",  # noqa: ARG002
        frame: memoryview,
    ) -> "list[Part] | ParkedFetch | None":
        """The framed answer, one that is to come, or None if the request is not plain."""
        broker = self.broker
        began_ns = broker.clock.monotonic_ns()
        config = broker.config.replication
        if len(frame) > FRAME_SIZE_MAX or selects_by_rack(config.replica_selector_class):
            return None
        try:
            question = Question(frame, broker.metadata.image.names_by_id)
            if question.version not in self.counters:
                return None
            if question.max_wait_ms > 0 < question.min_bytes and not self.has_news(question):
                return ParkedFetch(self, question, began_ns)
            answer = self.answer(question)
        except NOT_PLAIN:
            return None
        self.times.record_at_once(broker.clock.monotonic_ns() - began_ns)
        return answer

    def find(self, want: Want) -> "Partition":
        """The partition, if it is led here, in the epoch and with the id that are asked for."""
        partition = self.broker.replicas.find((want.topic, want.number))
        if (
            partition is None
            or not partition.is_leader
            or (want.leader_epoch not in (NO_EPOCH, partition.state.leader_epoch))
        ):
            raise NotPlain
        log = partition.log
        if want.topic_id is not None and log.topic_id not in (None, want.topic_id):
            raise NotPlain
        if not log.log_start_offset <= want.offset <= log.segments.end_offset:
            raise NotPlain
        log.folder.volume.require_online()
        return partition

    def has_news(self, question: Question) -> bool:
        """Whether any partition has something to read; looks at all of them."""
        has_news = False
        for want in question.wants:
            log = self.find(want).log
            end = log.last_stable_offset if question.is_read_committed else log.high_watermark
            if want.offset < end:
                has_news = True
        return has_news

    def answer(self, question: Question) -> list[Part]:
        """What there is to read now."""
        reads = self._read(question)
        answer = Writing(question.version)
        topics = [list(each) for _, each in groupby(reads, _topic_of)]
        answer.add_count(len(topics))
        for topic in topics:
            answer.begin_topic(topic[0][0].topic_bytes, len(topic))
            for _, fixed, aborted, stretch in topic:
                answer.add_partition(fixed, aborted, stretch)
            answer.end_topic()
        self.counters[question.version].value += 1
        self._count(reads)
        return answer.finish(question.correlation_id)

    def _read(self, question: Question) -> list[Read]:
        remaining = min(question.max_bytes, self.broker.config.replication.fetch_max_bytes)
        at_least_one = True
        reads = []
        for want in question.wants:
            log = self.find(want).log
            stable = log.last_stable_offset
            end = stable if question.is_read_committed else log.high_watermark
            aborted: list[AbortedTransaction] | None = [] if question.is_read_committed else None
            stretch = None
            if want.offset < end:
                fetched = log.read(
                    want.offset,
                    max_bytes=max(0, min(want.max_bytes, remaining)),
                    end_offset=end,
                    at_least_one=at_least_one,
                )
                if not fetched.is_first_batch_cut and fetched.range is not None:
                    stretch = fetched.range
                    at_least_one = False
                    remaining -= stretch.size
                    if question.is_read_committed:
                        aborted = log.aborted_in(fetched)
            fixed = (want.number, 0, log.high_watermark, stable, log.log_start_offset)
            reads.append((want, fixed, aborted, stretch))
        return reads

    def _count(self, reads: list[Read]) -> None:
        of_all = self.broker.traffic.all
        for want, _, _, stretch in reads:
            of_topic = self.broker.traffic.of(want.topic)
            of_topic.fetch_requests.value += 1
            of_all.fetch_requests.value += 1
            if stretch is not None:
                of_topic.bytes_out.value += stretch.size
                of_all.bytes_out.value += stretch.size


class Writing:
    """An answer as it grows; large stretches of files stand for themselves."""

    __slots__ = ("_is_flexible", "_parts", "_size", "_version", "current")

    def __init__(self, version: int) -> None:
        self._version = version
        self._is_flexible = version >= FLEXIBLE_FROM
        start = _FLEXIBLE_ANSWER if self._is_flexible else _ANSWER
        self.current = bytearray(start.size)
        self._parts: list[Part] = []
        self._size = 0

    def add_count(self, count: int) -> None:
        """How many there are of what follows."""
        self.current += _unsigned(count + 1) if self._is_flexible else INT32.pack(count)

    def begin_topic(self, name: bytes, partition_count: int) -> None:
        """A topic, by its name or its id; its partitions follow."""
        if self._version >= IDS_FROM:
            self.current += name
        elif self._is_flexible:
            self.current += _unsigned(len(name) + 1) + name
        else:
            self.current += INT16.pack(len(name)) + name
        self.add_count(partition_count)

    def end_topic(self) -> None:
        """All partitions of the topic are written."""
        if self._is_flexible:
            self.current += b"\0"

    def add_partition(
        self,
        fixed: Fixed,
        aborted: "list[AbortedTransaction] | None",
        stretch: "FileRange | bytes | bytearray | None",
    ) -> None:
        """One partition with what was read of it."""
        current = self.current
        current += _ANSWER_PARTITION.pack(*fixed)
        self.add_count(-1 if aborted is None else len(aborted))
        for one in aborted or ():
            current += _ABORTED.pack(one.producer_id, one.first_offset)
            if self._is_flexible:
                current += b"\0"
        if self._version >= RACK_FROM:
            current += _NO_REPLICA
        self.add_count(0 if stretch is None else len(stretch))
        if stretch is not None:
            self._parts += (current, stretch)
            self._size += len(current) + len(stretch)
            self.current = bytearray()
        if self._is_flexible:
            self.current += b"\0"

    def finish(self, correlation_id: int, session_id: int = 0) -> list[Part]:
        """The parts of the whole answer."""
        if self._is_flexible:
            self.current += b"\0"
        if self.current:
            self._parts.append(self.current)
            self._size += len(self.current)
        first = self._parts[0]
        assert isinstance(first, bytearray)
        start = _FLEXIBLE_ANSWER if self._is_flexible else _ANSWER
        start.pack_into(first, 0, self._size - _SIZE_BYTES, correlation_id, 0, 0, session_id)
        return self._parts


class ParkedFetch(Parked):
    """A request that waits until there is something to read, or its time is up."""

    __slots__ = ("_express", "_is_told", "_keys", "_local_ns", "_parked_ns", "_question", "_timer")

    def __init__(self, express: FetchExpress, question: Question, began_ns: int) -> None:
        broker = express.broker
        self._express = express
        self._question = question
        self._is_told = False
        self._keys = [express.find(want).topic_partition for want in question.wants]
        for key in self._keys:
            broker.waiters.enlist(key, self)
        broker.waiters.counts[OPERATION] += 1
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(question.max_wait_ms / 1000, self.end)
        self._parked_ns = broker.clock.monotonic_ns()
        self._local_ns = self._parked_ns - began_ns

    def note(self, key: Hashable) -> None:  # noqa: ARG002 - as a watch has it
        """Something happened to a partition: to look at once more, after all that comes with it."""
        if not self._is_told:
            self._is_told = True
            asyncio.get_running_loop().call_soon(self.look)

    def look(self) -> None:
        """Whether the wait is over."""
        self._is_told = False
        if self._keys:
            try:
                has_news = self._express.has_news(self._question)
            except NOT_PLAIN:
                has_news = True  # of a kind that the handler tells
            if has_news:
                self.end()

    def end(self) -> None:
        """Answer, whatever there is."""
        if self._keys:
            self.cancel()
            self.unpark()

    def cancel(self) -> None:
        """Wait no more."""
        waiters = self._express.broker.waiters
        if self._keys:
            self._timer.cancel()
            waiters.counts[OPERATION] -= 1
            for key in self._keys:
                waiters.dismiss(key, self)
            self._keys = []

    def answer(self) -> list[Part] | None:
        """The answer after the wait; None if it has become the handler's."""
        express = self._express
        try:
            answer = express.answer(self._question)
        except NOT_PLAIN:
            return None
        now_ns = express.broker.clock.monotonic_ns()
        express.times.record_waited(self._local_ns, now_ns - self._parked_ns)
        return answer
