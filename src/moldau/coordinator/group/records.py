"""The records of `__consumer_offsets`.

Offsets: key version 1, value version 3, or 1 where the client asked for a retention time of
its own. Groups of the classic protocol: key version 2, value version 3. A null value deletes.
Groups of the consumer protocol: see `consumer/records.py`. Keys of other versions belong to
kinds of group that there are not here, and are skipped.
"""

import struct
from functools import lru_cache
from typing import NamedTuple

from moldau.coordinator.group.consumer import records as consumer_records
from moldau.coordinator.group.consumer.records import ConsumerRecord
from moldau.coordinator.group.messages import Committed
from moldau.errors import ProtocolError
from moldau.model import TopicPartition
from moldau.protocol.messages.offsets_topic import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitValue,
)
from moldau.protocol.versioned import decode_versioned, encode_versioned, version_of

OFFSET_KEY_VERSION = 1
OFFSET_VALUE_VERSION = 3
OFFSET_VALUE_VERSION_WITH_EXPIRY = 1
GROUP_KEY_VERSION = 2
GROUP_VALUE_VERSION = 3

_OFFSET_KEY_STARTS = (b"\0\0", b"\0\1")
_KEY_START = struct.Struct(">hh")
_SHORT = struct.Struct(">h")
_INT = struct.Struct(">i")
# Version 3: version, offset, leader epoch, length of the metadata.
_OFFSET_VALUE = struct.Struct(">hqih")
_LONG = struct.Struct(">q")
_PLAIN_OFFSET_VALUE = struct.Struct(">hqihq")
"""A whole value without metadata."""


class OffsetRecord(NamedTuple):
    """A partition's offset is stored, or deleted (None)."""

    group_id: str
    partition: TopicPartition
    committed: Committed | None


class GroupRecord(NamedTuple):
    """A group's generation is stored with its members, or the group is deleted (None)."""

    group_id: str
    value: GroupMetadataValue | None


GroupsRecord = OffsetRecord | GroupRecord | ConsumerRecord


def encode(record: GroupsRecord) -> tuple[bytes, bytes | None]:
    """Key and value."""
    match record:
        case OffsetRecord(group_id, partition, committed):
            value = None if committed is None else _encode_committed(committed)
            topic, number = partition
            return _offset_key_start(group_id, topic) + _INT.pack(number), value
        case GroupRecord(group_id, group):
            stored = None if group is None else encode_versioned(group, GROUP_VALUE_VERSION)
            return encode_versioned(GroupMetadataKey(group=group_id), GROUP_KEY_VERSION), stored
        case _:
            return consumer_records.encode(record)


def decode(key: bytes, value: bytes | None, *, log_offset: int) -> GroupsRecord | None:
    """The record, or None for one of a kind that is not ours."""
    if key.startswith(_OFFSET_KEY_STARTS):
        committed = None if value is None else _decode_committed(value, log_offset)
        group_id, topic = _group_and_topic(key[:-4])
        return OffsetRecord(group_id, TopicPartition(topic, *_INT.unpack(key[-4:])), committed)
    version = version_of(key)
    if version != GROUP_KEY_VERSION:
        return consumer_records.decode(version, key, value)
    group_id = decode_versioned(GroupMetadataKey, key).group
    return GroupRecord(
        group_id, None if value is None else decode_versioned(GroupMetadataValue, value)
    )


# Offsets are written and read by hand: there are millions of them, and they do not change.


@lru_cache(maxsize=1024)
def _offset_key_start(group_id: str, topic: str) -> bytes:
    """What the keys of a group's offsets in a topic begin with."""
    group, name = group_id.encode(), topic.encode()
    start = _KEY_START.pack(OFFSET_KEY_VERSION, len(group))
    return start + group + _SHORT.pack(len(name)) + name


def _encode_committed(committed: Committed) -> bytes:
    offset, leader_epoch, metadata, commit_timestamp, expire_timestamp, _ = committed
    if expire_timestamp == -1:
        if metadata == "":
            return _PLAIN_OFFSET_VALUE.pack(
                OFFSET_VALUE_VERSION, offset, leader_epoch, 0, commit_timestamp
            )
        text = metadata.encode()
        start = _OFFSET_VALUE.pack(OFFSET_VALUE_VERSION, offset, leader_epoch, len(text))
        return start + text + _LONG.pack(commit_timestamp)
    value = OffsetCommitValue(
        offset=committed.offset,
        metadata=committed.metadata,
        commit_timestamp=committed.commit_timestamp,
        expire_timestamp=committed.expire_timestamp,
    )
    return encode_versioned(value, OFFSET_VALUE_VERSION_WITH_EXPIRY)


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


def _decode_committed(value: bytes, log_offset: int) -> Committed:
    if value[:2] == b"\0\3":
        try:
            _, offset, leader_epoch, size = _OFFSET_VALUE.unpack_from(value)
            end = _OFFSET_VALUE.size + size
            metadata = value[_OFFSET_VALUE.size : end].decode() if size else ""
            (timestamp,) = _LONG.unpack_from(value, end)
        except (struct.error, UnicodeDecodeError) as error:
            raise ProtocolError(f"offset value: {error}") from None
        return Committed(offset, leader_epoch, metadata, timestamp, -1, log_offset)
    other = decode_versioned(OffsetCommitValue, value)
    return Committed(
        other.offset,
        other.leader_epoch,
        other.metadata,
        other.commit_timestamp,
        other.expire_timestamp,
        log_offset,
    )
