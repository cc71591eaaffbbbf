# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The codec of plain OffsetCommit requests: a frame is read, and its answer written, in one pass.

This file runs as it stands and is also compiled as `_offset_commit`; `_offset_commit.pxd` then
gives its variables C types. Bytes come from the network, so every position is compared with the
end of the frame before it is used, in both forms.

What becomes of the offsets is for `requests/offset_commits.py` to say, as it is for the handler.
A request that this codec does not read is left to the handler, and nothing has changed.
"""

from typing import TYPE_CHECKING

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.broker.requests.offset_requests import COMMITTED_TOGETHER, identity_of
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.runtime import eager

if not cython.compiled:
    from moldau.broker.requests.offset_commits import OffsetCommit
    from moldau.records.memory import (
        address,
        copy,
        int16_at,
        int32_at,
        int64_at,
        put_int16,
        put_int32,
        writable,
    )

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from moldau.broker.broker import Broker
    from moldau.broker.context import Client
    from moldau.broker.metrics.request_times import RequestTimes
    from moldau.broker.requests.offset_commits import Errors
    from moldau.net.answer import Part
    from moldau.runtime.clock import Clock
    from moldau.runtime.metrics import Counter

    Counters = dict[int, Counter]
    Use = tuple[Client, str, int, int]
    """A client, its id, where the answer has it wait, and the time of its request."""

API_KEY = 8
VERSION_MIN, VERSION_MAX = 6, 9  # the first that has the leader's epoch
INSTANCE_FROM = 7
FLEXIBLE_FROM = 8
FRAME_SIZE_MAX = 16_384
NULL, WRONG = -1, -2
NO_ERROR = ErrorCode.NONE

NEW_TUPLE = tuple.__new__
Places = list[tuple[TopicPartition, int]]


class FastOffsetCommit:
    """Reads requests one after the other; its fields are those of the last one."""

    def __init__(self, broker: "Broker", times: "RequestTimes", counters: "Counters") -> None:
        """`counters` count the requests by version; one that has none is the handler's."""
        self.broker = broker
        self.quotas = broker.quotas
        self.times = times
        self.counters = counters

    def respond(
        self, client: "Client", frame: memoryview
    ) -> "list[Part] | Coroutine[Any, Any, list[Part]] | None":
        """The framed answer, or None if the request is not plain."""
        clock = self.broker.clock
        began_ns = clock.monotonic_ns()
        if len(frame) > FRAME_SIZE_MAX or not self.read_start(frame):
            return None
        requests = self.counters.get(self.version)
        if requests is None:
            return None
        try:
            commit = self.read_commit(client, frame)
        except UnicodeDecodeError:
            return None
        if commit is None or len(commit.offsets) > COMMITTED_TOGETHER:
            return None
        requests.value += 1
        answer, places, times = self.answer, self.places, self.times
        client_end, throttle_at = self.client_end, 9 if self.is_flexible else 8
        outcome = eager.start(commit.store(commit.offsets))
        local_ns = clock.monotonic_ns() - began_ns
        if isinstance(outcome, eager.Waiting):
            rest = timed(outcome.rest, times, clock, local_ns)
            answering = waited(rest, commit, answer, places)
            if self.quotas.is_set:
                client_id = str(frame[10:client_end], "ascii")
                return throttled(answering, self, (client, client_id, throttle_at, local_ns))
            return answering
        times.record_at_once(local_ns)
        write_errors(answer, places, commit.errors)
        if self.quotas.is_set:
            client_id = str(frame[10:client_end], "ascii")
            self.throttle(answer, (client, client_id, throttle_at, local_ns))
        return [answer]

    def throttle(self, answer: bytearray, use: "Use") -> None:
        """Have a client wait that uses more than it may, and say so in the answer."""
        client, client_id, throttle_at, spent_ns = use
        throttle_ms = self.quotas.charge(client, client_id, spent_ns)
        if throttle_ms:
            put_int32(writable(answer), throttle_at, throttle_ms)
            self.times.record_throttled(throttle_ms)

    # Reading

    def read_commit(self, client: "Client", frame: memoryview) -> OffsetCommit | None:
        """The offsets; `read_start` has read the group and the member that commit them."""
        group_id = str(frame[self.group : self.group + self.group_size], "utf-8")
        member_id = str(frame[self.member : self.member + self.member_size], "utf-8")
        instance_id = None
        if self.instance_size >= 0:
            instance_id = str(frame[self.instance : self.instance + self.instance_size], "utf-8")
        identity = identity_of(self.version, member_id, self.generation, instance_id)
        commit = OffsetCommit(self.broker, client, group_id, identity)
        return commit if self.read_topics(frame, commit) else None

    def read_start(self, frame: memoryview) -> bool:
        """Everything before the topics; False if anything is out of the ordinary."""
        data = address(frame)
        end = self.end = len(frame)
        if end < 10 or int16_at(data, 0) != API_KEY:
            return False
        version = self.version = int16_at(data, 2)
        if version < VERSION_MIN or version > VERSION_MAX:
            return False
        self.is_flexible = version >= FLEXIBLE_FROM
        self.correlation_id = int32_at(data, 4)
        self.position = 8
        if self.skip_client(data) == WRONG:
            return False
        self.group_size = self.read_text(data)
        self.group = self.position - self.group_size
        if self.group_size < 0 or self.position + 4 > end:
            return False
        self.generation = int32_at(data, self.position)
        self.position += 4
        self.member_size = self.read_text(data)
        self.member = self.position - self.member_size
        if self.member_size < 0:
            return False
        self.instance_size = NULL
        if version >= INSTANCE_FROM:
            self.instance_size = self.read_text(data)
            self.instance = self.position - self.instance_size
        return self.instance_size != WRONG

    def skip_client(self, data: memoryview) -> int:
        """The client's name, which has its size in two bytes in every version."""
        size = int16_at(data, self.position)
        self.position += 2 + (size if size > 0 else 0)
        self.client_end = self.position
        if size < NULL or self.position > self.end:
            return WRONG
        for position in range(10, self.position):
            if data[position] >= 0x80:
                return WRONG
        return self.skip_tags(data)

    def read_text(self, data: memoryview) -> int:
        """The size of a text, which ends at the new position."""
        size = self.read_size(data, 2)
        if size > 0:
            self.position += size
            if self.position > self.end:
                return WRONG
        return size

    def read_size(self, data: memoryview, width: int) -> int:
        """How much follows: a number of `width` bytes, or a small one that counts from 1."""
        position = self.position
        # The flexible versions end with the count of tags, so that two bytes are there as well.
        if position + width > self.end:
            return WRONG
        if self.is_flexible:
            size = data[position]
            self.position = position + 1
            if size >= 0x80:
                size = size & 0x7F | data[position + 1] << 7
                self.position = position + 2
                if data[position + 1] >= 0x80:
                    return WRONG
            return size - 1
        self.position = position + width
        size = int16_at(data, position) if width == 2 else int32_at(data, position)
        return size if size >= NULL else WRONG

    def skip_tags(self, data: memoryview) -> int:
        """Unknown tagged fields are not skipped: the handler gets the request."""
        if self.is_flexible:
            if self.position >= self.end or data[self.position] != 0:
                return WRONG
            self.position += 1
        return 0

    def read_topics(self, frame: memoryview, commit: OffsetCommit) -> bool:
        """All topics, which are answered on the way as if nothing were wrong with them."""
        data = address(frame)
        topic_count = self.begin_answer(data)
        if topic_count < 1:
            return False
        for _ in range(topic_count):
            before = self.position
            size = self.read_text(data)
            if size < 0:
                return False
            self.reply(data, before, self.position)
            name = str(frame[self.position - size : self.position], "utf-8")
            if not self.read_partitions(frame, name, commit):
                return False
        if self.skip_tags(data) == WRONG or self.position != self.end:
            return False
        self.end_answer()
        return True

    def read_partitions(self, frame: memoryview, name: str, commit: OffsetCommit) -> bool:
        """The partitions of a topic, whose name has just been read."""
        data = address(frame)
        before = self.position
        partition_count = self.read_size(data, 4)
        if partition_count < 0:
            return False
        self.reply(data, before, self.position)
        for _ in range(partition_count):
            position = self.position
            # What comes before the text is there if that is, which `read_text` looks at.
            self.position = position + 16
            size = self.read_text(data)
            metadata = None
            if size > 0:
                metadata = str(frame[self.position - size : self.position], "utf-8")
            if size == WRONG or self.skip_tags(data) == WRONG:
                return False
            index = int32_at(data, position)
            partition = NEW_TUPLE(TopicPartition, (name, index))
            offset = int64_at(data, position + 4)
            commit.add(partition, offset, int32_at(data, position + 12), metadata)
            self.reply_partition(partition, index)
        if self.skip_tags(data) == WRONG:
            return False
        if self.is_flexible:
            self.reply_tags()
        return True

    # Writing

    def begin_answer(self, data: memoryview) -> int:
        """Room for the answer; how many topics there are."""
        # An answer is shorter than what it answers, but for what stands before the topics.
        self.answer = bytearray(self.end + 32)
        self.places: Places = []
        start = 9 if self.is_flexible else 8
        self.answer_end = start + 4
        before = self.position
        topic_count = self.read_size(data, 4)
        if topic_count > 0:
            self.reply(data, before, self.position)
        return topic_count

    def reply(self, data: memoryview, start: int, end: int) -> None:
        """Answer with the same bytes."""
        copy(writable(self.answer), self.answer_end, data, start, end)
        self.answer_end += end - start

    def reply_partition(self, partition: TopicPartition, index: int) -> None:
        """Answer that an offset was stored, and note where."""
        put_int32(writable(self.answer), self.answer_end, index)
        self.places.append((partition, self.answer_end + 4))
        self.answer_end += 6
        if self.is_flexible:
            self.reply_tags()

    def reply_tags(self) -> None:
        """No fields but the known ones; the memory is zero already."""
        self.answer_end += 1

    def end_answer(self) -> None:
        """Write what stands before the topics."""
        if self.is_flexible:
            self.reply_tags()
        answer = writable(self.answer)
        put_int32(answer, 0, self.answer_end - 4)
        put_int32(answer, 4, self.correlation_id)
        self.answer = self.answer[: self.answer_end]


def write_errors(answer: bytearray, places: Places, errors: "Errors") -> None:
    """Write the errors that there are into an answer that has none."""
    for each in errors.values():
        if each is not NO_ERROR:
            break
    else:
        return
    data = writable(answer)
    for partition, position in places:
        error = errors[partition]
        if error is not NO_ERROR:
            put_int16(data, position, error)


async def timed(
    rest: "Coroutine[Any, Any, None]", times: "RequestTimes", clock: "Clock", local_ns: int
) -> None:
    """Wait, and note how long."""
    waiting_ns = clock.monotonic_ns()
    await rest
    times.record_waited(local_ns, clock.monotonic_ns() - waiting_ns)


async def waited(
    rest: "Coroutine[Any, Any, None]", commit: OffsetCommit, answer: bytearray, places: Places
) -> "list[Part]":
    """The answer to a request whose records other replicas must have first."""
    await rest
    write_errors(answer, places, commit.errors)
    return [answer]


async def throttled(
    answering: "Coroutine[Any, Any, list[Part]]", fast: FastOffsetCommit, use: "Use"
) -> "list[Part]":
    """The same to a client that may have to wait for its next one."""
    parts = await answering
    answer = parts[0]
    assert isinstance(answer, bytearray)
    fast.throttle(answer, use)
    return parts
