"""Messages with their version in front."""

import pytest

from moldau.errors import ProtocolError
from moldau.protocol.messages.consumer_protocol import (
    ConsumerProtocolSubscription,
    TopicPartition,
)
from moldau.protocol.messages.offsets_topic import GroupMetadataKey, OffsetCommitKey
from moldau.protocol.versioned import decode_versioned, encode_versioned, version_of

SUBSCRIPTION = ConsumerProtocolSubscription(
    topics=["t"], owned_partitions=[TopicPartition(topic="t", partitions=[1])], generation_id=5
)


def test_golden_bytes_of_an_offset_key() -> None:
    encoded = encode_versioned(OffsetCommitKey(group="g", topic="t", partition=3), 1)
    assert encoded == b"\0\1\0\1g\0\1t\0\0\0\3"
    assert version_of(encoded) == 1


@pytest.mark.parametrize("version", range(4))
def test_messages_come_back_in_the_version_that_they_say(version: int) -> None:
    encoded = encode_versioned(SUBSCRIPTION, version)
    decoded = decode_versioned(ConsumerProtocolSubscription, memoryview(encoded))
    assert decoded.owned_partitions == (SUBSCRIPTION.owned_partitions if version >= 1 else [])
    assert decoded.generation_id == (5 if version >= 2 else -1)


def test_a_newer_version_may_be_read_as_the_newest_known() -> None:
    newer = b"\0\x63" + encode_versioned(SUBSCRIPTION, 3)[2:] + b"what we do not know"
    decoded = decode_versioned(ConsumerProtocolSubscription, newer, newer_is_newest=True)
    assert decoded == SUBSCRIPTION


@pytest.mark.parametrize("version", [b"\0\x63", b"\xff\xff"])
def test_an_unknown_version_is_refused(version: bytes) -> None:
    with pytest.raises(ProtocolError, match="GroupMetadataKey has no version"):
        decode_versioned(GroupMetadataKey, version + b"\0\1g")


def test_a_negative_version_is_not_a_newer_one() -> None:
    with pytest.raises(ProtocolError, match="has no version -1"):
        decode_versioned(GroupMetadataKey, b"\xff\xff\0\1g", newer_is_newest=True)


@pytest.mark.parametrize("short", [b"", b"\0"])
def test_bytes_without_a_version_are_refused(short: bytes) -> None:
    with pytest.raises(ProtocolError, match="where a version was expected"):
        version_of(short)
