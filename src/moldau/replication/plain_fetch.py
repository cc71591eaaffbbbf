"""The fast path of a follower that keeps up: takes a response and makes the next request at once.

A follower fetches again for every record that a producer waits for, so what counts is how soon
the leader learns that it is here: without the codec, without a coroutine woken for it (`Reply`
in `net/channel.py`). Compiled it would be slower: most of it calls others, which the interpreter
does well.

Whatever is not plain in any way is left to `FetchLoop` and the codec: a new session, partitions
that come, go, wait or are held up, errors, logs that have parted, flushes that are waited for.
An answer is either taken as a whole, or not touched. The messages and their versions are
described in `protocol/messages/fetch.py`.
"""

import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING

from moldau.config.values import LONG_MAX
from moldau.errors import ProtocolError
from moldau.protocol.codec import encode
from moldau.protocol.messages.fetch import FetchRequest, ReplicaState
from moldau.protocol.varint import decode_uvarint, encode_uvarint
from moldau.replication.fetch_session import Said
from moldau.replication.fetcher import LeaderAnswer
from moldau.replication.follower_requests import wanted

if TYPE_CHECKING:
    from moldau.config.broker.replication import ReplicationConfig
    from moldau.replication.fetch_loop import Terms
    from moldau.replication.fetch_session import ReplicaFetchSession
    from moldau.replication.fetcher import Following, ReplicaFetcher
    from moldau.runtime.clock import Moment
    from moldau.runtime.waiters import Waiters

VERSION_MIN = 12  # the first in which leaders say where the logs part
REPLICA_STATE_SINCE = 15
NOTHING_TO_SEND = b""

ID_SIZE = 16
# How long to wait, the least and the most bytes, isolation level, session id and epoch.
TERMS = struct.Struct(">iiibii")
# Number, leader epoch, offset, last epoch, log start, most bytes, no tagged fields.
WANTED = struct.Struct(">iiqiqib")
# Throttle time, error code, session id.
ANSWER = struct.Struct(">ihi")
# Number, error code, high watermark, last stable offset, log start, the length of the aborted
# transactions, preferred replica.
FETCHED = struct.Struct(">ihqqqbi")


class PlainFetch:
    """Replies to the answers of one leader."""

    def __init__(
        self,
        fetcher: "ReplicaFetcher",
        session: "ReplicaFetchSession",
        terms: "Terms",
        waiters: "Waiters",
    ) -> None:
        self._fetcher = fetcher
        self._session = session
        self._terms = terms
        self._waiters = waiters
        self._writer: RequestWriter | None = None

    def begin(self, version: int) -> None:
        """The answers that follow are to requests of this version."""
        if self._writer is None or self._writer.version != version:
            self._writer = RequestWriter(version, self._terms.replica_id)

    def reply(self, frame: memoryview, position: int) -> bytes | None:
        """Take the answer whose body is at `position`, and say what to send next.

        None if the answer is not plain: nothing has changed. NOTHING_TO_SEND if what comes
        next is not.
        """
        session = self._session
        answer = read_answer(frame, position, session.uses_ids)
        if answer is None or answer[0] != session.session_id:
            return None
        taken = []
        for key, high_watermark, log_start_offset, records in answer[1]:
            asked = session.asked(key)
            if asked is None:
                continue
            following = self._fetcher.get(asked[0])
            if following is None or following.leader_epoch != asked[1].leader_epoch:
                continue
            if following.partition.log.config.flush_messages != LONG_MAX:
                return None
            offset = asked[1].offset
            taken.append(
                (following, LeaderAnswer(offset, records, high_watermark, log_start_offset))
            )
        now = self._terms.now()
        for following, fetched in taken:
            self.take(following, fetched, now)
        session.answered(session.session_id)
        return self._next(now)

    def take(self, following: "Following", answer: LeaderAnswer, now: "Moment") -> bool:
        """Append what the leader sent of a partition; returns whether it changed for readers."""
        terms, partition = self._terms, following.partition
        size = len(answer.records)
        terms.bytes_in.add(size)
        terms.throttle.record(partition, size, now_ms=now.monotonic_ms)
        has_news = self._fetcher.take_records(following, answer, now)
        if has_news:
            self._waiters.wake(partition.topic_partition)
        return has_news

    def is_held_up(self, following: "Following", now: "Moment") -> bool:
        """Whether a partition that is behind has to wait until less has gone through."""
        throttle = self._terms.throttle
        return following.lag != 0 and throttle.holds_up(
            following.partition, now_ms=now.monotonic_ms
        )

    def _next(self, now: "Moment") -> bytes:
        session, config = self._session, self._terms.config()
        touched = self._fetcher.plainly_touched()
        if touched is None:
            return NOTHING_TO_SEND
        news = []
        for following in touched:
            said = self._said(following, config, now)
            if said is None:
                return NOTHING_TO_SEND
            if session.is_news(following.name, said):
                news.append((following.name, said))
        for name, said in news:
            session.say(name, said)
        self._fetcher.untouch()
        writer = self._writer
        assert writer is not None, "a talk has begun"
        return writer.write(config, session, [said for _, said in news])

    def _said(
        self, following: "Following", config: "ReplicationConfig", now: "Moment"
    ) -> Said | None:
        """What to say of a partition; None where it is new here, or has to wait."""
        partition = following.partition
        key = self._session.key_of(partition.topic_partition)
        if key is None:
            return None
        topic = partition.log.topic_id if self._session.uses_ids else partition.topic_partition[0]
        if key[0] != topic:
            return None
        if self.is_held_up(following, now):
            return None
        return Said(key, wanted(following, config.replica_fetch_max_bytes))


class RequestWriter:
    """Writes the requests of one version, of which only the numbers change."""

    def __init__(self, version: int, replica_id: int) -> None:
        self.version = version
        has_state = version >= REPLICA_STATE_SINCE
        request = FetchRequest(
            replica_id=-1 if has_state else replica_id,
            replica_state=ReplicaState(replica_id=replica_id) if has_state else None,
            max_wait_ms=0,
            min_bytes=0,
            topics=[],
        )
        whole = encode(request, version)
        start = 0 if has_state else 4
        self._before = whole[:start]
        self._after = whole[start + TERMS.size + 1 :]  # one byte says that there are no topics

    def write(
        self, config: "ReplicationConfig", session: "ReplicaFetchSession", news: Iterable[Said]
    ) -> bytes:
        """A request that forgets nothing, as the codec writes it."""
        topics: dict[str | bytes, list[bytes]] = {}
        for key, want in news:
            packed = WANTED.pack(key[1], *want, 0)
            partitions = topics.get(key[0])
            if partitions is None:
                topics[key[0]] = [packed]
            else:
                partitions.append(packed)
        terms = TERMS.pack(
            config.replica_fetch_wait_max_ms,
            config.replica_fetch_min_bytes,
            config.replica_fetch_response_max_bytes,
            0,
            session.session_id,
            session.epoch,
        )
        parts = [self._before, terms, encode_uvarint(len(topics) + 1)]
        for topic, partitions in topics.items():
            if isinstance(topic, str):
                name = topic.encode()
                parts.append(encode_uvarint(len(name) + 1))
                parts.append(name)
            else:
                parts.append(topic)
            parts.append(encode_uvarint(len(partitions) + 1))
            parts += partitions
            parts.append(b"\0")
        parts.append(self._after)
        return b"".join(parts)


Fetched = tuple[tuple[str | bytes, int], int, int, memoryview]
"""A partition as the session names it, its high watermark, its log start and its records."""


def read_answer(
    frame: memoryview, position: int, uses_ids: bool
) -> tuple[int, list[Fetched]] | None:
    """The session's id and all partitions; None if anything is out of the ordinary."""
    try:
        _, error_code, session_id = ANSWER.unpack_from(frame, position)
        if error_code:
            return None
        count, position = decode_uvarint(frame, position + ANSWER.size)
        found: list[Fetched] = []
        for _ in range(count - 1):
            position = _read_topic(frame, position, uses_ids, found)
            if position < 0:
                return None
        if count == 0 or frame[position] or position + 1 != len(frame):
            return None
    except (struct.error, IndexError, UnicodeDecodeError, ProtocolError):
        return None
    return session_id, found


def _read_topic(frame: memoryview, position: int, uses_ids: bool, found: list[Fetched]) -> int:
    """Add a topic's partitions; the position after it, or -1 if it is not plain."""
    topic: str | bytes
    if uses_ids:
        topic = bytes(frame[position : position + ID_SIZE])
        position += ID_SIZE
    else:
        size, position = decode_uvarint(frame, position)
        topic = str(frame[position : position + size - 1], "utf-8")
        position += size - 1
        if size < 1:
            return -1
    count, position = decode_uvarint(frame, position)
    for _ in range(count - 1):
        number, error_code, high_watermark, _, log_start_offset, aborted_size, _ = (
            FETCHED.unpack_from(frame, position)
        )
        size, position = decode_uvarint(frame, position + FETCHED.size)
        end = position + size - 1 if size else position
        if error_code or not 0 <= aborted_size <= 1 or frame[end]:  # or there are tagged fields
            return -1
        found.append(((topic, number), high_watermark, log_start_offset, frame[position:end]))
        position = end + 1
    return -1 if count == 0 or frame[position] else position + 1
