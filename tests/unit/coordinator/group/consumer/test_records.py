"""The records of groups of the consumer protocol."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.coordinator.group.consumer.member import ConsumerMember, MemberState
from moldau.coordinator.group.consumer.records import (
    ConsumerRecord,
    CurrentRecord,
    EpochRecord,
    MemberRecord,
    PatternRecord,
    TargetEpochRecord,
    TargetRecord,
    TopicsRecord,
    decode,
    encode,
)
from moldau.coordinator.group.consumer.stored import ResolvedPattern
from moldau.coordinator.group.consumer.topics import ObservedTopic
from moldau.errors import ProtocolError
from unit.coordinator.group.consumer.samples import T

SUBSCRIBED = ConsumerMember(member_id="", topic_names=("t",), rebalance_timeout_ms=5)
MOVED = ConsumerMember(
    member_id="",
    epoch=3,
    previous_epoch=2,
    state=MemberState.UNREVOKED,
    assigned={T: (0, 1)},
    revoking={T: (2,)},
)
RECORDS: list[tuple[int, ConsumerRecord]] = [
    (3, EpochRecord("g", 7)),
    (4, TopicsRecord("g", {"t": ObservedTopic(T, 4, {0: ("a", "b")})})),
    (5, MemberRecord("g", "m", SUBSCRIBED)),
    (6, TargetEpochRecord("g", 6)),
    (7, TargetRecord("g", "m", {T: (0, 2)})),
    (8, CurrentRecord("g", "m", MOVED)),
    (16, PatternRecord("g", "t.*", ResolvedPattern(("t", "t2"), 99))),
]


@pytest.mark.parametrize(("version", "record"), RECORDS)
def test_every_record_is_read_back(version: int, record: ConsumerRecord) -> None:
    key, value = encode(record)
    assert key[:2] == version.to_bytes(2, "big")
    assert decode(version, key, value) == record


@pytest.mark.parametrize(("version", "record"), RECORDS)
def test_every_record_has_its_tombstone(version: int, record: ConsumerRecord) -> None:
    tombstone = type(record)(*record[:-1], None)  # type: ignore[call-arg]
    key, value = encode(tombstone)
    assert (key, value) == (encode(record)[0], None)
    assert decode(version, key, None) == tombstone


def test_bytes_are_those_of_kafka() -> None:
    assert encode(EpochRecord("g", 7)) == (b"\0\3\0\1g", b"\0\0\0\0\0\7\0")
    key, value = encode(TargetRecord("g", "m", {T: (1,)}))
    assert key == b"\0\7\0\1g\0\1m"
    assert value == b"\0\0\2" + T + b"\2\0\0\0\1\0\0"
    key, value = encode(PatternRecord("g", "t.*", ResolvedPattern(("t", "t2"), 258)))
    assert key == b"\0\x10\0\1g\0\3t.*"
    assert value == b"\0\0\3\2t\3t2" + 2 * b"\0\0\0\0\0\0\1\2" + b"\0"


def test_other_kinds_are_not_read() -> None:
    assert decode(11, b"\0\x0b\0\1g", b"") is None


@given(st.sampled_from([version for version, _ in RECORDS]), st.binary(max_size=20))
def test_hostile_bytes_are_refused(version: int, data: bytes) -> None:
    for key, value in ((version.to_bytes(2, "big") + data, None), (b"\0\3\0\1g", data)):
        try:
            decode(int.from_bytes(key[:2], "big"), key, value)
        except ProtocolError:
            continue
