"""The records of `__consumer_offsets`, as far as the classic protocol writes and reads them.

Offsets: key version 1, value version 3, or 1 where the client asked for a retention time of
its own. Groups: key version 2, value version 3. A null value deletes. Keys of other versions
belong to KIP-848 groups and are skipped.
"""

import struct
from typing import NamedTuple

from moldau.coordinator.group.messages import Committed
from moldau.errors import ProtocolError
from moldau.model import TopicPartition
from moldau.protocol.messages.offsets_topic import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from moldau.protocol.versioned import decode_versioned, encode_versioned, version_of

OFFSET_KEY_VERSION = 1
OFFSET_VALUE_VERSION = 3
OFFSET_VALUE_VERSION_WITH_EXPIRY = 1
GROUP_KEY_VERSION = 2
GROUP_VALUE_VERSION = 3

_SHORT = struct.Struct(">h")
_INT = struct.Struct(">i")
# Versions 3: version, offset, leader epoch, length of the metadata.
_OFFSET_VALUE = struct.Struct(">hqih")
_LONG = struct.Struct(">q")


class OffsetRecord(NamedTuple):
    """A partition's offset is stored, or deleted (None)."""

    group_id: str
    partition: TopicPartition
    committed: Committed | None


class GroupRecord(NamedTuple):
    """A group's generation is stored with its members, or the group is deleted (None)."""

    group_id: str
    value: GroupMetadataValue | None


GroupsRecord = OffsetRecord | GroupRecord


def encode(record: GroupsRecord) -> tuple[bytes, bytes | None]:
    """Key and value."""
    match record:
        case OffsetRecord(group_id, partition, committed):
            key = OffsetCommitKey(
                group=group_id, topic=partition.topic, partition=partition.partition
            )
            value = None if committed is None else _encode_committed(committed)
            return encode_versioned(key, OFFSET_KEY_VERSION), value
        case GroupRecord(group_id, group):
            stored = None if group is None else encode_versioned(group, GROUP_VALUE_VERSION)
            return encode_versioned(GroupMetadataKey(group=group_id), GROUP_KEY_VERSION), stored


def decode(key: bytes, value: bytes | None, *, log_offset: int) -> GroupsRecord | None:
    """The record, or None for one of a kind that is not ours."""
    version = version_of(key)
    if version in (0, OFFSET_KEY_VERSION):
        committed = None if value is None else _decode_committed(value, log_offset)
        return _offset_record(key, committed)
    if version != GROUP_KEY_VERSION:
        return None
    group_id = decode_versioned(GroupMetadataKey, key).group
    return GroupRecord(
        group_id, None if value is None else decode_versioned(GroupMetadataValue, value)
    )


def _encode_committed(committed: Committed) -> bytes:
    version = OFFSET_VALUE_VERSION
    if committed.expire_timestamp != -1:
        version = OFFSET_VALUE_VERSION_WITH_EXPIRY
    value = OffsetCommitValue(
        offset=committed.offset,
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        commit_timestamp=committed.commit_timestamp,
        expire_timestamp=committed.expire_timestamp,
    )
    return encode_versioned(value, version)


def _offset_record(key: bytes, committed: Committed | None) -> OffsetRecord:
    """Read the key by hand: a coordinator that loads reads millions of them."""
    try:
        group_end = 4 + _SHORT.unpack_from(key, 2)[0]
        topic_end = group_end + 2 + _SHORT.unpack_from(key, group_end)[0]
        (partition,) = _INT.unpack_from(key, topic_end)
        group_id = key[4:group_end].decode()
        topic = key[group_end + 2 : topic_end].decode()
    except (struct.error, UnicodeDecodeError) as error:
        raise ProtocolError(f"offset key: {error}") from None
    return OffsetRecord(group_id, TopicPartition(topic, partition), committed)


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
