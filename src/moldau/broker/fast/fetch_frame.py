"""A Fetch request as consumers and followers send it, parsed without the messages' codec.

This file runs as it stands and is also compiled as `_fetch_frame`. The layout is that of
`protocol/messages/fetch.py`. What is seldom (old versions, long lists, tagged fields other than a
replica's state) or wrong is left to the codec: the request is None here.
"""

from struct import Struct
from struct import error as StructError  # noqa: N812 - a class without a capital
from typing import TYPE_CHECKING

from moldau.broker.requests.fetch_request import (
    CONSUMER,
    TOPIC_IDS_SINCE,
    ParsedFetch,
    PartitionKey,
    Wanted,
)

if TYPE_CHECKING:
    from moldau.broker.context import Client

API_KEY = 1
VERSION_MIN, VERSION_MAX = 10, 17  # from the first that is never converted
RACK_FROM = 11
FLEXIBLE_FROM = 12
REPLICA_STATE_FROM = 15
# Longer ones are decoded in turns with the other work of the loop.
FRAME_SIZE_MAX = 8_192

_HEADER = Struct(">hhih")
# Longest wait, least bytes, most bytes, isolation, session and its epoch.
_LIMITS = Struct(">iiibii")
# Number, leader epoch, offset, start of the log, most bytes; flexible with the last epoch before
# the start, and with a count of tags.
_PARTITION = Struct(">iiqqi")
_FLEXIBLE_PARTITION = Struct(">iiqiqib")
_INT16, _INT32 = Struct(">h"), Struct(">i")
_TOPIC_ID_SIZE = 16
# One tagged field, with the tag 1 and 13 bytes: a replica, its epoch and no tags.
_REPLICA_STATE = b"\1\1\x0d"
_REPLICA_STATE_SIZE = 16
_NO_EPOCH = -1

_new = tuple.__new__


class NotParsed(Exception):
    """The frame is for the messages' codec."""


def parse(client: "Client", frame: memoryview) -> tuple[ParsedFetch, int] | None:
    """The request in a frame and its correlation id; None if the messages' codec has to read it."""
    if len(frame) > FRAME_SIZE_MAX:
        return None
    try:
        return _parse(client, bytes(frame))
    except (NotParsed, StructError, IndexError, UnicodeDecodeError):
        return None


def _parse(client: "Client", frame: bytes) -> tuple[ParsedFetch, int]:
    key, version, correlation_id, client_size = _HEADER.unpack_from(frame, 0)
    if key != API_KEY or not VERSION_MIN <= version <= VERSION_MAX or client_size < -1:
        raise NotParsed
    position = 10 + max(client_size, 0)
    client_id = frame[10:position].decode()
    if version >= FLEXIBLE_FROM:
        _require_zero(frame, position)
        position += 1
    replica_id = CONSUMER
    if version < REPLICA_STATE_FROM:
        (replica_id,) = _INT32.unpack_from(frame, position)
        position += 4
    max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = (
        _LIMITS.unpack_from(frame, position)
    )
    position += _LIMITS.size
    wanted: dict[PartitionKey, Wanted] = {}
    forgotten: list[PartitionKey] = []
    if version >= FLEXIBLE_FROM:
        position = _read_flexible_topics(frame, position, version, wanted)
        position = _read_flexible_forgotten(frame, position, version, forgotten)
        size = _small(frame, position)
        rack_end = position + _small_size(size) + size - 1
        rack_id = _text(frame, position + _small_size(size), rack_end)
        position = rack_end
        if version >= REPLICA_STATE_FROM and frame[position]:
            replica_id = _replica_id(frame, position)
            position += _REPLICA_STATE_SIZE
        else:
            _require_zero(frame, position)
            position += 1
    else:
        position = _read_topics(frame, position, wanted)
        position = _read_forgotten(frame, position, forgotten)
        rack_id = ""
        if version >= RACK_FROM:
            (size,) = _INT16.unpack_from(frame, position)
            rack_id = _text(frame, position + 2, position + 2 + size)
            position += 2 + size
    if position != len(frame):
        raise NotParsed
    fields = (
        client, client_id, version, replica_id, max_wait_ms, min_bytes, max_bytes,
        isolation_level, session_id, session_epoch, wanted, forgotten, rack_id,
    )  # fmt: skip
    return _new(ParsedFetch, fields), correlation_id


def _read_topics(frame: bytes, position: int, wanted: dict[PartitionKey, Wanted]) -> int:
    """Add the partitions of all topics; the position after them."""
    (topic_count,) = _INT32.unpack_from(frame, position)
    position += 4
    _require_list(topic_count)
    for _ in range(topic_count):
        (size,) = _INT16.unpack_from(frame, position)
        end = position + 2 + size
        topic = _text(frame, position + 2, end)
        (partition_count,) = _INT32.unpack_from(frame, end)
        _require_list(partition_count)
        position = end + 4
        for _ in range(partition_count):
            number, epoch, offset, start, max_bytes = _PARTITION.unpack_from(frame, position)
            position += _PARTITION.size
            wanted[_new(PartitionKey, (topic, number))] = _new(
                Wanted, (epoch, offset, _NO_EPOCH, start, max_bytes)
            )
    return position


def _read_forgotten(frame: bytes, position: int, forgotten: list[PartitionKey]) -> int:
    (topic_count,) = _INT32.unpack_from(frame, position)
    position += 4
    _require_list(topic_count)
    for _ in range(topic_count):
        (size,) = _INT16.unpack_from(frame, position)
        end = position + 2 + size
        topic = _text(frame, position + 2, end)
        (count,) = _INT32.unpack_from(frame, end)
        _require_list(count)
        position = end + 4
        for _ in range(count):
            forgotten.append(PartitionKey(topic, *_INT32.unpack_from(frame, position)))
            position += 4
    return position


def _read_flexible_topics(
    frame: bytes, position: int, version: int, wanted: dict[PartitionKey, Wanted]
) -> int:
    topic_count = _small(frame, position)
    position += _small_size(topic_count)
    for _ in range(topic_count - 1):
        topic, position = _read_flexible_topic(frame, position, version)
        partition_count = _small(frame, position)
        position += _small_size(partition_count)
        for _ in range(partition_count - 1):
            number, *want, tags = _FLEXIBLE_PARTITION.unpack_from(frame, position)
            if tags:
                raise NotParsed
            position += _FLEXIBLE_PARTITION.size
            wanted[_new(PartitionKey, (topic, number))] = _new(Wanted, want)
        _require_zero(frame, position)
        position += 1
    return position


def _read_flexible_forgotten(
    frame: bytes, position: int, version: int, forgotten: list[PartitionKey]
) -> int:
    topic_count = _small(frame, position)
    position += _small_size(topic_count)
    for _ in range(topic_count - 1):
        topic, position = _read_flexible_topic(frame, position, version)
        count = _small(frame, position)
        position += _small_size(count)
        for _ in range(count - 1):
            forgotten.append(PartitionKey(topic, *_INT32.unpack_from(frame, position)))
            position += 4
        _require_zero(frame, position)
        position += 1
    return position


def _read_flexible_topic(frame: bytes, position: int, version: int) -> tuple[str | bytes, int]:
    """A topic's name or id, and the position after it."""
    if version >= TOPIC_IDS_SINCE:
        end = position + _TOPIC_ID_SIZE
        return frame[position:end], end
    size = _small(frame, position)
    start = position + _small_size(size)
    end = start + size - 1
    return _text(frame, start, end), end


def _replica_id(frame: bytes, position: int) -> int:
    if frame[position : position + 3] != _REPLICA_STATE:
        raise NotParsed
    _require_zero(frame, position + _REPLICA_STATE_SIZE - 1)
    replica_id: int = _INT32.unpack_from(frame, position + 3)[0]
    return replica_id


def _text(frame: bytes, start: int, end: int) -> str:
    if not start <= end <= len(frame):  # a size of -1 is no text at all
        raise NotParsed
    return frame[start:end].decode()


def _small(frame: bytes, position: int) -> int:
    """A size or count of one byte or two, plus one; a list or text that is not there is 0."""
    number = frame[position]
    if number >= 0x80:
        high = frame[position + 1]
        number = number & 0x7F | high << 7
        if not 0 < high < 0x80:
            raise NotParsed
    if number == 0:
        raise NotParsed
    return number


def _small_size(number: int) -> int:
    return 1 if number < 0x80 else 2


def _require_list(count: int) -> None:
    if count < 0:
        raise NotParsed


def _require_zero(frame: bytes, position: int) -> None:
    """No tagged fields."""
    if frame[position]:
        raise NotParsed
