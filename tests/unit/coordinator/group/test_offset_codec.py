"""Offsets as they are stored: by hand here, and as the declared messages say."""

from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.coordinator.group import offset_codec as source
from moldau.coordinator.group.messages import Committed
from moldau.coordinator.group.offset_codec import (
    KEY_STARTS,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
)
from moldau.coordinator.group.records import GroupRecord, OffsetRecord, encode
from moldau.errors import ProtocolError
from moldau.model import TopicPartition
from moldau.protocol.messages.offsets_topic import OffsetCommitKey, OffsetCommitValue
from moldau.protocol.versioned import encode_versioned

NAMES = st.text(max_size=20)
LONGS = st.integers(-(2**63), 2**63 - 1)
INTS = st.integers(-(2**31), 2**31 - 1)


COMMITTED = st.builds(
    Committed,
    offset=LONGS,
    leader_epoch=INTS,
    metadata=st.sampled_from(["", "m", "\N{SNOWMAN}"]),
    commit_timestamp=LONGS,
    expire_timestamp=st.just(-1) | LONGS,
)
PARTITIONS = st.builds(TopicPartition, st.sampled_from(["t", "other"]), INTS)
RECORDS = st.builds(
    OffsetRecord, st.sampled_from(["g", "h"]), PARTITIONS, st.none() | COMMITTED
) | st.builds(GroupRecord, st.sampled_from(["g", "h"]), st.none())


@pytest.fixture(scope="module", params=["source", "compiled"])
def codec(request: pytest.FixtureRequest) -> ModuleType:
    if request.param == "source":
        return source
    compiled: ModuleType = pytest.importorskip("moldau.coordinator.group._offset_codec")
    return compiled


def test_an_offset_has_key_version_1_and_value_version_3(codec: ModuleType) -> None:
    stored = [
        OffsetRecord("g", TopicPartition("topic", 3), Committed(5, 2, "m", 7)),
        OffsetRecord("g", TopicPartition("topic", -1), Committed(-5, -2, "", 7)),
        OffsetRecord("g", TopicPartition("topic", 3), Committed(5, -1, "m", 7, 8)),
        OffsetRecord("g", TopicPartition("topic", 3), None),
    ]
    key = b"\0\1\0\1g\0\5topic\0\0\0\3"
    own = "0001 0000000000000005 0001 6d 0000000000000007 0000000000000008"
    assert codec.encode_all(stored, OffsetRecord, encode) == [
        (key, bytes.fromhex("0003 0000000000000005 00000002 0001 6d 0000000000000007")),
        (
            b"\0\1\0\1g\0\5topic\xff\xff\xff\xff",
            bytes.fromhex("0003 fffffffffffffffb fffffffe 0000 0000000000000007"),
        ),
        (key, bytes.fromhex(own)),
        (key, None),
    ]


@given(stored=st.lists(RECORDS, max_size=8))
def test_many_are_written_as_each_of_them(
    codec: ModuleType, stored: list[OffsetRecord | GroupRecord]
) -> None:
    singly = [
        (
            encode_key(each.group_id, each.partition),
            None if each.committed is None else encode_value(each.committed),
        )
        if isinstance(each, OffsetRecord)
        else encode(each)
        for each in stored
    ]
    assert codec.encode_all(stored, OffsetRecord, encode) == singly


@given(NAMES, NAMES, INTS)
def test_keys_are_those_of_the_message(group: str, topic: str, number: int) -> None:
    key = encode_key(group, TopicPartition(topic, number))
    message = OffsetCommitKey(group=group, topic=topic, partition=number)
    assert key == encode_versioned(message, 1)
    assert key.startswith(KEY_STARTS)
    assert decode_key(key) == (group, TopicPartition(topic, number))


@given(LONGS, INTS, st.text(), LONGS, LONGS)
def test_values_are_those_of_the_message(
    offset: int, leader_epoch: int, metadata: str, timestamp: int, log_offset: int
) -> None:
    committed = Committed(offset, leader_epoch, metadata, timestamp, -1, log_offset)
    value = encode_value(committed)
    message = OffsetCommitValue(
        offset=offset,
        leader_epoch=leader_epoch,
        metadata=metadata,
        commit_timestamp=timestamp,
    )
    assert value == encode_versioned(message, 3)
    assert decode_value(value, log_offset) == committed


def test_a_retention_time_of_its_own_is_kept_in_version_1() -> None:
    committed = Committed(5, -1, "m", 7, 9, 11)
    value = encode_value(committed)
    assert value[:2] == b"\0\1"
    assert decode_value(value, 11) == committed


@pytest.mark.parametrize("version", range(5))
def test_every_version_of_an_offset_is_read(version: int) -> None:
    stored = OffsetCommitValue(offset=5, metadata="m", commit_timestamp=7)
    key = OffsetCommitKey(group="g", topic="topic", partition=3)
    found = decode_key(encode_versioned(key, version % 2))
    assert found == ("g", TopicPartition("topic", 3))
    assert decode_value(encode_versioned(stored, version), 1) == Committed(5, -1, "m", 7, -1, 1)


@given(st.sampled_from(KEY_STARTS), st.binary(max_size=40))
def test_broken_keys_are_refused(start: bytes, rest: bytes) -> None:
    try:
        group, partition = decode_key(start + rest)
    except ProtocolError:
        return
    assert encode_key(group, partition)[2:] == (start + rest)[2:]


@given(st.binary(max_size=60))
def test_broken_values_are_refused(rest: bytes) -> None:
    try:
        decode_value(b"\0\3" + rest, 0)
    except ProtocolError:
        return


@pytest.mark.parametrize("size", range(24))
def test_values_that_are_cut_off_are_refused(size: int) -> None:
    value = encode_value(Committed(5, 1, "", 7))
    with pytest.raises(ProtocolError):
        decode_value(value[:size], 0)


def test_a_key_with_something_behind_its_topic_is_refused() -> None:
    key = encode_key("g", TopicPartition("t", 0))
    with pytest.raises(ProtocolError):
        decode_key(key + b"x")
