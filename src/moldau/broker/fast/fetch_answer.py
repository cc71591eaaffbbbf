"""The answer to a Fetch request, framed without the messages' codec.

This file runs as it stands and is also compiled as `_fetch_answer`. The layout is that of
`protocol/messages/fetch.py`, without tagged fields: where an outcome needs some, `needs_message`
says so.
"""

from struct import Struct

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.broker.fast.fetch_frame import FLEXIBLE_FROM, RACK_FROM
from moldau.broker.requests.fetch_request import TOPIC_IDS_SINCE
from moldau.broker.requests.fetch_response import LEADER_HINTS_SINCE
from moldau.net.answer import Part

if not cython.compiled:
    from moldau.broker.requests.reads import PartitionRead

# Size, correlation id; then throttle time, error and session.
_START = Struct(">iiihi")
_FLEXIBLE_START = Struct(">iixihi")
# Number, error, high watermark, last stable offset and start of the log.
_PARTITION = Struct(">ihqqq")
_ABORTED = Struct(">qq")
_INT16, _INT32 = Struct(">h"), Struct(">i")
_SIZE_BYTES = 4


def needs_message(version: int, outcomes: list[PartitionRead]) -> bool:
    """Whether the response has tagged fields: where logs diverge, or the current leader."""
    for read in outcomes:
        if read.diverging is not None:
            return True
        if read.error is not None and version >= LEADER_HINTS_SINCE:
            return True
    return False


def encode(
    version: int,
    correlation_id: int,
    session_id: int,
    throttle_ms: int,
    outcomes: list[PartitionRead],
) -> list[Part]:
    """The parts of the framed answer."""
    topics: list[list[PartitionRead]] = []
    last: str | bytes | None = None
    for read in outcomes:
        topic = read.key[0]
        if topic == last:
            topics[-1].append(read)
        else:
            last = topic
            topics.append([read])
    answer = _Answer(version)
    answer.add_count(len(topics))
    for reads in topics:
        answer.add_topic(reads)
    return answer.finish(correlation_id, session_id, throttle_ms)


class _Answer:
    """An answer as it grows; ranges of files stand for themselves."""

    __slots__ = ("_current", "_is_flexible", "_parts", "_size", "_version")

    def __init__(self, version: int) -> None:
        self._version = version
        self._is_flexible = version >= FLEXIBLE_FROM
        start = _FLEXIBLE_START if self._is_flexible else _START
        self._current = bytearray(start.size)
        self._parts: list[Part] = []
        self._size = 0

    def add_count(self, count: int) -> None:
        """How many there are of what follows; -1 if there is no list."""
        if not self._is_flexible:
            self._current += _INT32.pack(count)
        elif count < 0x7F:
            self._current.append(count + 1)
        else:
            self._current += _uvarint(count + 1)

    def add_topic(self, outcomes: list[PartitionRead]) -> None:
        """A topic, by its name or its id, with its partitions."""
        topic = outcomes[0].key[0]
        name = topic.encode() if isinstance(topic, str) else topic
        if self._version < TOPIC_IDS_SINCE:
            self._current += (
                _uvarint(len(name) + 1) if self._is_flexible else _INT16.pack(len(name))
            )
        self._current += name
        self.add_count(len(outcomes))
        for read in outcomes:
            self._add_partition(read)
        if self._is_flexible:
            self._current.append(0)

    def _add_partition(self, read: PartitionRead) -> None:
        current, error = self._current, read.error
        current += _PARTITION.pack(
            read.key[1],
            0 if error is None else error.code,
            read.high_watermark,
            read.last_stable_offset,
            read.log_start_offset,
        )
        aborted = read.aborted
        if aborted is None:
            self.add_count(-1)
        else:
            self.add_count(len(aborted))
            for one in aborted:
                current += _ABORTED.pack(one.producer_id, one.first_offset)
                if self._is_flexible:
                    current.append(0)
        if self._version >= RACK_FROM:
            current += _INT32.pack(read.preferred_replica)
        records = read.records
        if records is None:
            self.add_count(0)
        else:
            size = len(records)
            self.add_count(size)
            self._parts += (current, records)
            self._size += len(current) + size
            self._current = bytearray()
        if self._is_flexible:
            self._current.append(0)

    def finish(self, correlation_id: int, session_id: int, throttle_ms: int) -> list[Part]:
        """The parts of the whole answer."""
        if self._is_flexible:
            self._current.append(0)
        if self._current:
            self._parts.append(self._current)
            self._size += len(self._current)
        first = self._parts[0]
        assert isinstance(first, bytearray)
        start = _FLEXIBLE_START if self._is_flexible else _START
        size = self._size - _SIZE_BYTES
        start.pack_into(first, 0, size, correlation_id, throttle_ms, 0, session_id)
        return self._parts


def _uvarint(number: int) -> bytes:
    written = b""
    while number >= 0x80:
        written += bytes((number & 0x7F | 0x80,))
        number >>= 7
    return written + bytes((number,))
