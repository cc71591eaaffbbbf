"""Records of committed offsets to their keys and values, and back.

Key version 1 (before it 0), value version 3, or 1 where the client asked for a retention time of
its own. They are written and read by hand: there are millions of them, and they do not change.

This file runs as it stands and is also compiled as `_offset_codec`; `_offset_codec.pxd` then gives
its variables C types.
"""

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.coordinator.group.messages import Committed
from moldau.errors import ProtocolError
from moldau.model import TopicPartition
from moldau.protocol.messages.offsets_topic import OffsetCommitValue
from moldau.protocol.versioned import decode_versioned, encode_versioned

if not cython.compiled:
    from moldau.records.memory import item, put_int32, put_int64, writable

KEY_STARTS = (b"\0\0", b"\0\1")
"""What keys of offsets begin with: their version."""
KEY_VERSION = 1
VALUE_VERSION = 3
VALUE_VERSION_WITH_EXPIRY = 1

_KEY_START = struct.Struct(">hh")
_SHORT = struct.Struct(">h")
_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
# Version 3: version, offset, leader epoch, length of the metadata; without metadata all of it.
_VALUE = struct.Struct(">hqih")
_PLAIN_VALUE = struct.Struct(">hqihq")
_PLAIN_SIZE = _PLAIN_VALUE.size
PLAIN_START = _PLAIN_VALUE.pack(VALUE_VERSION, 0, 0, 0, 0)
OFFSET_AT, EPOCH_AT, TIMESTAMP_AT = 2, 10, 16


def encode_all(
    records: Sequence[Any],
    offset_record: type,
    encode: Callable[[Any], tuple[bytes, bytes | None]],
) -> list[tuple[bytes, bytes | None]]:
    """Keys and values of records; `encode` has those that are not of the class of offsets."""
    pairs: list[tuple[bytes, bytes | None]] = []
    group_id = topic = None
    key, plain_value = bytearray(4), bytearray(PLAIN_START)
    index_at = 0
    for record in records:
        if type(record) is not offset_record:
            pairs.append(encode(record))
            continue
        partition, committed = item(record, 1), item(record, 2)
        if item(record, 0) is not group_id or item(partition, 0) is not topic:
            group_id, topic = item(record, 0), item(partition, 0)
            start = _key_start(group_id, topic)
            key, index_at = bytearray(start + bytes(4)), len(start)
        put_int32(writable(key), index_at, item(partition, 1))
        value: bytes | None = None
        if committed is not None and (item(committed, 2) or item(committed, 4) != -1):
            value = encode_value(committed)
        elif committed is not None:
            # Nearly all are like this, so they are written without a function for each.
            place = writable(plain_value)
            put_int64(place, OFFSET_AT, item(committed, 0))
            put_int32(place, EPOCH_AT, item(committed, 1))
            put_int64(place, TIMESTAMP_AT, item(committed, 3))
            value = bytes(plain_value)
        pairs.append((bytes(key), value))
    return pairs


def encode_key(group_id: str, partition: TopicPartition) -> bytes:
    """The key of a group's offset."""
    return _key_start(group_id, partition[0]) + _INT.pack(partition[1])


def encode_value(committed: Committed) -> bytes:
    """The value of a group's offset."""
    offset, leader_epoch, metadata, commit_timestamp, expire_timestamp, _ = committed
    if expire_timestamp != -1:
        value = OffsetCommitValue(
            offset=offset,
            metadata=metadata,
            commit_timestamp=commit_timestamp,
            expire_timestamp=expire_timestamp,
        )
        return encode_versioned(value, VALUE_VERSION_WITH_EXPIRY)
    text = metadata.encode()
    start = _VALUE.pack(VALUE_VERSION, offset, leader_epoch, len(text))
    return start + text + _LONG.pack(commit_timestamp)


def decode_key(key: bytes) -> tuple[str, TopicPartition]:
    """The group and the partition of an offset."""
    group_id, topic = _group_and_topic(key[:-4])
    return group_id, TopicPartition(topic, _INT.unpack_from(key, len(key) - 4)[0])


def decode_value(value: bytes, log_offset: int) -> Committed:
    """An offset that was stored."""
    if value[:2] != b"\0\3":
        other = decode_versioned(OffsetCommitValue, value)
        return Committed(
            other.offset,
            other.leader_epoch,
            other.metadata,
            other.commit_timestamp,
            other.expire_timestamp,
            log_offset,
        )
    try:
        if len(value) == _PLAIN_SIZE:
            _, offset, leader_epoch, size, timestamp = _PLAIN_VALUE.unpack(value)
            if size == 0:
                return Committed(offset, leader_epoch, "", timestamp, -1, log_offset)
        _, offset, leader_epoch, size = _VALUE.unpack_from(value)
        end = _VALUE.size + size
        metadata = value[_VALUE.size : end].decode()
        (timestamp,) = _LONG.unpack_from(value, end)
    except (struct.error, UnicodeDecodeError) as error:
        raise ProtocolError(f"offset value: {error}") from None
    return Committed(offset, leader_epoch, metadata, timestamp, -1, log_offset)


@lru_cache(maxsize=1024)
def _key_start(group_id: str, topic: str) -> bytes:
    group, name = group_id.encode(), topic.encode()
    start = _KEY_START.pack(KEY_VERSION, len(group))
    return start + group + _SHORT.pack(len(name)) + name


@lru_cache(maxsize=1024)
def _group_and_topic(start: bytes) -> tuple[str, str]:
    """What a key begins with; neighbours in the log often share it, and then the strings too."""
    try:
        group_end = 4 + _SHORT.unpack_from(start, 2)[0]
        topic_start = group_end + 2
        if topic_start + _SHORT.unpack_from(start, group_end)[0] != len(start):
            raise ProtocolError(f"offset key of {len(start) + 4} bytes")
        return start[4:group_end].decode(), start[topic_start:].decode()
    except (struct.error, UnicodeDecodeError) as error:
        raise ProtocolError(f"offset key: {error}") from None
