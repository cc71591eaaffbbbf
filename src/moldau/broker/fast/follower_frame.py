"""A Fetch request as a follower sends it within its session, read without the messages' codec.

The layout is that of `protocol/messages/fetch.py`, in its flexible versions.
"""

from struct import Struct
from struct import error as StructError  # noqa: N812 - a class without a capital

from moldau.broker.fast.fetch_frame import (
    API_KEY,
    FLEXIBLE_FROM,
    IDS_FROM,
    NO_REPLICA_UNTIL,
    VERSION_MAX,
    NotPlain,
    expect,
    short,
)
from moldau.broker.requests.fetch_sessions import PartitionKey, Wanted

_HEADER = Struct(">hhih")
# Longest wait, least bytes, most bytes, isolation, session and its epoch; then the topics.
_LIMITS = Struct(">iiibii")
# Number, leader epoch, offset, last epoch, start of the log, most bytes and no tags.
_PARTITION = Struct(">iiqiqib")
_REPLICA = Struct(">i")
_NOTHING_FORGOTTEN = b"\1\1"  # and no rack
# One tagged field, which is the first: a replica, its epoch and no tags.
_REPLICA_STATE = b"\1\1\x0d"
_REPLICA_STATE_SIZE = 16
_TOPIC_ID_SIZE = 16
# The greatest number that the next request of a session can have; after it they begin again.
_EPOCH_MAX = 2**31 - 2
READ_UNCOMMITTED = 0


def is_in_session(frame: memoryview) -> bool:
    """Whether a Fetch request of a flexible version belongs to a session."""
    try:
        _, version, _, client_size = _HEADER.unpack_from(frame, 0)
        if version < FLEXIBLE_FROM:
            return False
        position = 11 + max(client_size, 0)
        if version < NO_REPLICA_UNTIL:
            position += _REPLICA.size
        return bool(_LIMITS.unpack_from(frame, position)[4])
    except StructError:
        return False


class FollowerQuestion:
    """A request as far as it is plain: a known session, in which offsets have moved."""

    __slots__ = (
        "correlation_id", "epoch", "max_bytes", "max_wait_ms", "min_bytes", "replica_id",
        "session_id", "uses_ids", "version", "wanted",
    )  # fmt: skip

    def __init__(self, frame: memoryview) -> None:
        """Read a frame; raises NotPlain, or what reading beyond its end raises."""
        key, self.version, self.correlation_id, client_size = _HEADER.unpack_from(frame, 0)
        if key != API_KEY or not FLEXIBLE_FROM <= self.version <= VERSION_MAX:
            raise NotPlain
        position = 10 + max(client_size, 0)
        if not bytes(frame[10:position]).isascii():
            raise NotPlain
        expect(frame, position, b"\0")
        position = self._read_limits(frame, position + 1)
        self.uses_ids = self.version >= IDS_FROM
        position = self._read_topics(frame, position)
        expect(frame, position, _NOTHING_FORGOTTEN)
        self._read_end(frame, position + len(_NOTHING_FORGOTTEN))
        if self.replica_id < 0:
            raise NotPlain

    def _read_limits(self, frame: memoryview, position: int) -> int:
        self.replica_id = -1
        if self.version < NO_REPLICA_UNTIL:
            (self.replica_id,) = _REPLICA.unpack_from(frame, position)
            position += _REPLICA.size
        limits = _LIMITS.unpack_from(frame, position)
        self.max_wait_ms, self.min_bytes, self.max_bytes = limits[:3]
        isolation, self.session_id, self.epoch = limits[3:]
        # More bytes than one have to be waited for by looking at all that there is.
        if isolation != READ_UNCOMMITTED or self.min_bytes > 1:
            raise NotPlain
        if self.session_id == 0 or not 0 < self.epoch <= _EPOCH_MAX:
            raise NotPlain
        return position + _LIMITS.size

    def _read_topics(self, frame: memoryview, position: int) -> int:
        wanted: dict[PartitionKey, Wanted] = {}
        count = 0
        topic_count = _count(frame, position)
        position += 1
        for _ in range(topic_count):
            topic: bytes | str
            if self.uses_ids:
                topic = bytes(frame[position : position + _TOPIC_ID_SIZE])
                position += _TOPIC_ID_SIZE
            else:
                size = short(frame, position)
                topic = bytes(frame[position + 1 : position + size]).decode("ascii")
                position += size
            partition_count = _count(frame, position)
            position += 1
            for _ in range(partition_count):
                number, leader_epoch, offset, last_epoch, start, max_bytes, tags = (
                    _PARTITION.unpack_from(frame, position)
                )
                position += _PARTITION.size
                if tags:
                    raise NotPlain
                wanted[PartitionKey(topic, number)] = Wanted(
                    offset, max_bytes, leader_epoch, start, last_epoch
                )
            count += partition_count
            expect(frame, position, b"\0")
            position += 1
        if len(wanted) != count:  # one was named twice
            raise NotPlain
        self.wanted = wanted
        return position

    def _read_end(self, frame: memoryview, position: int) -> None:
        if self.version < NO_REPLICA_UNTIL:
            if bytes(frame[position:]) != b"\0":
                raise NotPlain
            return
        expect(frame, position, _REPLICA_STATE)
        (self.replica_id,) = _REPLICA.unpack_from(frame, position + len(_REPLICA_STATE))
        if len(frame) != position + _REPLICA_STATE_SIZE or frame[position + 15] != 0:
            raise NotPlain


def _count(frame: memoryview, position: int) -> int:
    """How many there are of what follows; that there is no list at all is not plain."""
    number = short(frame, position)
    if number == 0:
        raise NotPlain
    return number - 1
