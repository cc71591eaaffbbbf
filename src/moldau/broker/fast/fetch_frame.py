"""A Fetch request as a plain consumer sends it: read without the messages' codec, or not at all.

Only requests without a session are plain, by a consumer that waits for nothing but the first byte.
The layout is that of `protocol/messages/fetch.py`.
"""

from collections.abc import Mapping
from struct import Struct
from struct import error as StructError  # noqa: N812 - a class without a capital
from typing import NamedTuple

from moldau.errors import KafkaError

API_KEY = 1
VERSION_MIN, VERSION_MAX = 10, 17  # the first that is never converted
RACK_FROM = 11
FLEXIBLE_FROM = 12
IDS_FROM = 13
NO_REPLICA_UNTIL = 15
CONSUMER = -1
NO_EPOCH = -1
READ_COMMITTED = 1
PARTITIONS_MAX = 64
FRAME_SIZE_MAX = 8_192

_HEADER = Struct(">hhih")
# Replica, longest wait, least bytes, most bytes, isolation, session and its epoch.
_LIMITS = Struct(">iiiibii")
_LIMITS_WITHOUT_REPLICA = Struct(">iiibii")
_PARTITION = Struct(">iiqqi")
_FLEXIBLE_PARTITION = Struct(">iiqiqi")
INT16, INT32 = Struct(">h"), Struct(">i")
_END = b"\0\0\0\0"
_END_WITH_RACK = b"\0\0\0\0\0\0"
_FLEXIBLE_END = b"\1\1\0"  # nothing forgotten, no rack, no tags


class Want(NamedTuple):
    """What is asked of one partition."""

    topic: str
    topic_bytes: bytes
    """As the answer repeats it: the name or the id."""
    topic_id: bytes | None
    number: int
    leader_epoch: int
    offset: int
    max_bytes: int


class NotPlain(Exception):
    """The request is the handler's."""


# Frames that end too early are the handler's, too, and so is what has an error of its own.
NOT_PLAIN = (NotPlain, KafkaError, StructError, IndexError, UnicodeDecodeError)


class Question:
    """A request as far as it is plain."""

    __slots__ = (
        "correlation_id", "is_read_committed", "max_bytes", "max_wait_ms", "min_bytes", "version",
        "wants",
    )  # fmt: skip

    def __init__(self, frame: memoryview, names_by_id: Mapping[bytes, str]) -> None:
        """Read a frame; raises NotPlain, or what reading beyond its end raises."""
        key, self.version, self.correlation_id, client_size = _HEADER.unpack_from(frame, 0)
        if key != API_KEY or not VERSION_MIN <= self.version <= VERSION_MAX:
            raise NotPlain
        position = 10 + max(client_size, 0)
        if not bytes(frame[10:position]).isascii():
            raise NotPlain
        is_flexible = self.version >= FLEXIBLE_FROM
        if is_flexible:
            expect(frame, position, b"\0")
            position += 1
        position = self._read_limits(frame, position)
        self.wants: list[Want] = []
        if is_flexible:
            position = self._read_flexible_topics(frame, position, names_by_id)
            end = _FLEXIBLE_END
        else:
            position = self._read_topics(frame, position)
            end = _END_WITH_RACK if self.version >= RACK_FROM else _END
        if frame[position:] != end or not self.wants:
            raise NotPlain
        if len({(want.topic, want.number) for want in self.wants}) != len(self.wants):
            raise NotPlain

    def _read_limits(self, frame: memoryview, position: int) -> int:
        replica = CONSUMER
        if self.version < NO_REPLICA_UNTIL:
            replica, *limits = _LIMITS.unpack_from(frame, position)
            position += _LIMITS.size
        else:
            limits = list(_LIMITS_WITHOUT_REPLICA.unpack_from(frame, position))
            position += _LIMITS_WITHOUT_REPLICA.size
        self.max_wait_ms, self.min_bytes, self.max_bytes, isolation, session, epoch = limits
        # No session, and none wanted.
        if (replica, session, epoch) != (CONSUMER, 0, -1) or isolation not in (0, READ_COMMITTED):
            raise NotPlain
        if self.min_bytes > 1:  # who waits for more has to be looked after more often
            raise NotPlain
        self.is_read_committed = isolation == READ_COMMITTED
        return position

    def _read_topics(self, frame: memoryview, position: int) -> int:
        (topic_count,) = INT32.unpack_from(frame, position)
        position += 4
        for _ in range(topic_count):
            (size,) = INT16.unpack_from(frame, position)
            start = position + 2
            name = bytes(frame[start : start + max(size, 0)])
            (partition_count,) = INT32.unpack_from(frame, start + len(name))
            position = start + len(name) + 4
            topic = name.decode("ascii")
            for _ in range(partition_count):
                number, epoch, offset, _start, max_bytes = _PARTITION.unpack_from(frame, position)
                position += _PARTITION.size
                self._add(Want(topic, name, None, number, epoch, offset, max_bytes))
        return position

    def _read_flexible_topics(
        self, frame: memoryview, position: int, names_by_id: Mapping[bytes, str]
    ) -> int:
        topic_count = short(frame, position) - 1
        position += 1
        for _ in range(topic_count):
            topic_id = None
            if self.version >= IDS_FROM:
                topic_id = name = bytes(frame[position : position + 16])
                topic = names_by_id.get(topic_id)
                if topic is None:
                    raise NotPlain
                position += 16
            else:
                size = short(frame, position) - 1
                name = bytes(frame[position + 1 : position + 1 + max(size, 0)])
                topic = name.decode("ascii")
                position += 1 + len(name)
            partition_count = short(frame, position) - 1
            position += 1
            for _ in range(partition_count):
                number, epoch, offset, last_epoch, _start, max_bytes = (
                    _FLEXIBLE_PARTITION.unpack_from(frame, position)
                )
                position += _FLEXIBLE_PARTITION.size
                expect(frame, position, b"\0")
                position += 1
                if last_epoch != NO_EPOCH:
                    raise NotPlain
                self._add(Want(topic, name, topic_id, number, epoch, offset, max_bytes))
            expect(frame, position, b"\0")
            position += 1
        return position

    def _add(self, want: Want) -> None:
        if len(self.wants) == PARTITIONS_MAX:
            raise NotPlain
        self.wants.append(want)


def short(frame: memoryview, position: int) -> int:
    """A number of one byte; larger ones are not plain."""
    number = frame[position]
    if number >= 0x80:
        raise NotPlain
    return number


def expect(frame: memoryview, position: int, expected: bytes) -> None:
    """Raise NotPlain unless these bytes are next."""
    if frame[position : position + len(expected)] != expected:
        raise NotPlain
