"""The records of `__consumer_offsets`.

Offsets: see `offset_codec.py`. Groups of the classic protocol: key version 2, value version 3. A
null value deletes. Groups of the consumer protocol: see `consumer/records.py`. Keys of other
versions belong to kinds of group that there are not here, and are skipped.
"""

from typing import NamedTuple

from moldau.coordinator.group.consumer import records as consumer_records
from moldau.coordinator.group.consumer.records import ConsumerRecord
from moldau.coordinator.group.messages import Committed
from moldau.model import TopicPartition
from moldau.protocol.messages.offsets_topic import GroupMetadataKey, GroupMetadataValue
from moldau.protocol.versioned import decode_versioned, encode_versioned, version_of

GROUP_KEY_VERSION = 2
GROUP_VALUE_VERSION = 3


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


def encode(record: GroupRecord | ConsumerRecord) -> tuple[bytes, bytes | None]:
    """Key and value of what is no offset; offsets have a codec of their own."""
    match record:
        case GroupRecord(group_id, group):
            stored = None if group is None else encode_versioned(group, GROUP_VALUE_VERSION)
            return encode_versioned(GroupMetadataKey(group=group_id), GROUP_KEY_VERSION), stored
        case _:
            return consumer_records.encode(record)


def decode(key: bytes, value: bytes | None) -> GroupRecord | ConsumerRecord | None:
    """The record of a group, or None for one of a kind that is not ours.

    Offsets are not read here, but by their own codec: there are millions of them.
    """
    version = version_of(key)
    if version != GROUP_KEY_VERSION:
        return consumer_records.decode(version, key, value)
    group_id = decode_versioned(GroupMetadataKey, key).group
    return GroupRecord(
        group_id, None if value is None else decode_versioned(GroupMetadataValue, value)
    )
