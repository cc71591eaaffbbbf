"""The shortest way of Fetch for followers, who ask in a session for what comes next.

This file runs as it stands and is also compiled as `_follower_fetch`. Each record that a
producer wants on all replicas waits for one such request of every follower, so they wait here
without coroutine, task and future, and are read and answered without the messages' codec.

Whatever is not plain in any way is left to the handler of Fetch, also after a wait: the session
then stands as if the request had not come yet.
"""

import asyncio
from itertools import groupby
from typing import TYPE_CHECKING

from moldau.broker.fast.fetch_frame import FRAME_SIZE_MAX, NOT_PLAIN
from moldau.broker.fast.follower_frame import FollowerQuestion
from moldau.broker.requests.fetch_sessions import Answer, Fetch, PartitionKey, SessionRequest
from moldau.broker.requests.follower_sessions import count_sent, note_fetch, note_told
from moldau.broker.requests.reads import (
    Asked,
    PartitionRead,
    ReadTerms,
    end_of,
    read_all,
    undivided,
)
from moldau.errors import ErrorCode
from moldau.net.answer import Parked, Part
from moldau.replication.read_replica import selects_by_rack
from moldau.runtime import native

if TYPE_CHECKING:
    from moldau.broker.broker import Broker
    from moldau.broker.context import Client
    from moldau.broker.fast.fetch import Writing
    from moldau.broker.metrics.request_times import RequestTimes
    from moldau.broker.requests.follower_sessions import FollowerSession
    from moldau.runtime.metrics import Counter

    Counters = dict[int, Counter]
else:
    Writing = native.kernel("moldau.broker.fast._fetch", "moldau.broker.fast.fetch").Writing

OPERATION = "Fetch"

Reads = dict[PartitionKey, PartitionRead]


def _topic_of(key: PartitionKey) -> str | bytes:
    return key[0]


class FollowerExpress:
    """Answers plain requests of followers, at once or when there is something to read."""

    def __init__(self, broker: "Broker", times: "RequestTimes", counters: "Counters") -> None:
        """`counters` count the requests by version; one that has none is the handler's."""
        self.broker = broker
        self.times = times
        self.counters = counters

    def respond(
        self,
        client: "Client",  # noqa: ARG002
        frame: memoryview,
    ) -> "list[Part] | FollowerFetch | None":
        """The framed answer, one that is to come, or None if the request is not plain."""
        broker = self.broker
        began_ns = broker.clock.monotonic_ns()
        # Where consumers read from followers, those hear of high watermarks as they move.
        if len(frame) > FRAME_SIZE_MAX or selects_by_rack(
            broker.config.replication.replica_selector_class
        ):
            return None
        try:
            question = FollowerQuestion(frame)
        except NOT_PLAIN:
            return None
        if question.version not in self.counters:
            return None
        session = broker.follower_sessions.find(question.session_id, question.replica_id)
        if session is None:
            return None
        request = _request(question)
        fetch = broker.fetch_sessions.go_on(request, now_ms=broker.clock.monotonic_ms())
        if fetch is None:
            return None
        work = FollowerFetch(self, question, session, fetch)
        try:
            has_news = work.begin()
        except NOT_PLAIN:
            broker.fetch_sessions.take_back(request)
            return None
        if has_news or question.max_wait_ms <= 0 or question.min_bytes <= 0:
            if not has_news:
                work.read()
            answer = work.answer()
            if answer is not None:
                self.times.record_at_once(broker.clock.monotonic_ns() - began_ns)
            return answer
        work.park(began_ns)
        return work


class FollowerFetch(Parked):
    """A request of a follower, which waits until there is something to read."""

    __slots__ = (
        "_asked", "_express", "_fetch", "_is_told", "_local_ns", "_parked_ns", "_question",
        "_reads", "_session", "_terms", "_timer",
    )  # fmt: skip

    def __init__(
        self,
        express: FollowerExpress,
        question: FollowerQuestion,
        session: "FollowerSession",
        fetch: Fetch,
    ) -> None:
        broker = express.broker
        self._express = express
        self._question = question
        self._session = session
        self._fetch = fetch
        self._asked: dict[PartitionKey, Asked] = {}
        self._reads: Reads = {}
        self._terms = ReadTerms(
            max_bytes=min(question.max_bytes, broker.config.replication.fetch_max_bytes),
            replica_id=question.replica_id,
            is_read_committed=False,
            at_least_one=True,
            throttle=broker.leader_throttle,
            now_ms=broker.clock.monotonic_ms(),
        )
        self._timer: asyncio.TimerHandle | None = None
        self._is_told = False
        self._parked_ns = self._local_ns = 0

    def begin(self) -> bool:
        """Take in what the follower says; whether there is something to read.

        Raises what NOT_PLAIN lists if it is not plain.
        """
        broker, terms, session, fetch = (
            self._express.broker, self._terms, self._session, self._fetch,
        )  # fmt: skip
        session.begin(fetch, broker.metadata.image.names_by_id, now_ms=terms.now_ms)
        self._asked = asked = session.questions(fetch)
        has_news = False
        found = {}
        for key, one in asked.items():
            partition = found[key] = undivided(broker.replicas, one, terms)
            if one.want.fetch_offset < end_of(partition, terms):
                has_news = True
        for key, want in fetch.changed.items():
            note_fetch(broker, found[key], terms, want)
        return self.read() if has_news else False

    def park(self, began_ns: int) -> None:
        """Begin to wait."""
        broker = self._express.broker
        self._session.watch.tell = self.note
        broker.waiters.counts[OPERATION] += 1
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._question.max_wait_ms / 1000, self.time_out)
        self._parked_ns = broker.clock.monotonic_ns()
        self._local_ns = self._parked_ns - began_ns

    def note(self) -> None:
        """Something happened to a partition: to look at once more, after all that comes with it."""
        if not self._is_told:
            self._is_told = True
            asyncio.get_running_loop().call_soon(self.look)

    def look(self) -> None:
        """Whether the wait is over."""
        self._is_told = False
        if self._timer is not None and self._read_again():
            self._end()

    def time_out(self) -> None:
        """Answer, whatever there is."""
        if self._timer is not None:
            self._read_again()
            self._end()

    def _end(self) -> None:
        self.cancel()
        self.unpark()

    def cancel(self) -> None:
        """Wait no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            watch = self._session.watch
            if watch.tell == self.note:  # or another request of the session waits by now
                watch.tell = None
            self._express.broker.waiters.counts[OPERATION] -= 1

    def answer(self) -> list[Part] | None:
        """The answer to what was read last; None if it has become the handler's."""
        express, session, terms = self._express, self._session, self._terms
        broker = express.broker
        reads = self._reads
        for read in reads.values():
            if read.is_answer_due:
                broker.fetch_sessions.take_back(_request(self._question))
                return None
        now_ms = broker.clock.monotonic_ms()
        session.note_read(reads, now_ms=now_ms)
        session.end(self._asked, reads, terms)
        note_told(broker, reads, terms, now_ms=now_ms)
        count_sent(broker, reads, terms)
        express.counters[self._question.version].value += 1
        if self._parked_ns:
            waited_ns = broker.clock.monotonic_ns() - self._parked_ns
            express.times.record_waited(self._local_ns, waited_ns)
        return self._write(reads)

    def _read_again(self) -> bool:
        self._asked = self._session.questions(self._fetch)
        return self.read()

    def read(self) -> bool:
        """Read what there is; whether the follower must hear of it at once."""
        broker = self._express.broker
        self._reads = reads = read_all(broker.replicas, self._asked, self._terms)
        for read in reads.values():
            if read.records is not None or read.is_answer_due:
                return True
        self._session.note_read(reads, now_ms=broker.clock.monotonic_ms())
        return False

    def _write(self, reads: Reads) -> list[Part]:
        told = self._fetch.select({key: _answer(read) for key, read in reads.items()})
        traffic = self._express.broker.traffic
        for one in self._asked.values():
            assert one.partition is not None
            traffic.of(one.partition.topic).fetch_requests.value += 1
            traffic.all.fetch_requests.value += 1
        writing = Writing(self._question.version)
        topics = [(name, list(keys)) for name, keys in groupby(told, _topic_of)]
        writing.add_count(len(topics))
        for topic, keys in topics:
            writing.begin_topic(topic.encode() if isinstance(topic, str) else topic, len(keys))
            for key in keys:
                read = reads[key]
                assert read.partition is not None
                log = read.partition.log
                bounds = log.high_watermark, log.last_stable_offset, log.log_start_offset
                writing.add_partition((key[1], 0, *bounds), None, read.records)
            writing.end_topic()
        return writing.finish(self._question.correlation_id, self._question.session_id)


def _request(question: FollowerQuestion) -> SessionRequest:
    return SessionRequest(
        question.session_id,
        question.epoch,
        question.wanted,
        (),
        question.uses_ids,
        True,
    )


def _answer(read: PartitionRead) -> Answer:
    assert read.partition is not None
    log = read.partition.log
    return Answer(
        ErrorCode.NONE, log.high_watermark, log.log_start_offset, read.records is not None, False
    )
