"""Records have Kafka's bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.coordinator.group.records import GroupRecord, decode, encode
from moldau.errors import ProtocolError
from moldau.protocol.messages.offsets_topic import (
    GroupMetadataValue,
    MemberMetadata,
)
from moldau.protocol.versioned import encode_versioned

VALUE = GroupMetadataValue(
    protocol_type="consumer",
    generation=4,
    protocol="range",
    leader="a",
    current_state_timestamp=99,
    members=[
        MemberMetadata(
            member_id="a",
            group_instance_id=None,
            client_id="c",
            client_host="/h",
            rebalance_timeout=2,
            session_timeout=1,
            subscription=b"s",
            assignment=b"x",
        )
    ],
)


def test_a_group_has_key_version_2_and_value_version_3() -> None:
    key, value = encode(GroupRecord("g", VALUE))
    assert key == b"\0\2\0\1g"
    assert value == encode_versioned(VALUE, 3)


def test_a_deletion_has_no_value() -> None:
    assert encode(GroupRecord("g", None)) == (b"\0\2\0\1g", None)


@pytest.mark.parametrize("version", range(5))
def test_every_version_of_a_group_is_read(version: int) -> None:
    record = decode(b"\0\2\0\1g", encode_versioned(VALUE, version))
    assert isinstance(record, GroupRecord)
    assert record.value is not None
    assert record.value.generation == 4


def test_tombstones_are_read() -> None:
    assert decode(*encode(GroupRecord("g", None))) == GroupRecord("g", None)


def test_records_of_other_groups_are_skipped() -> None:
    assert decode(b"\0\x0b\0\1g", b"\0\0\0") is None


@given(st.binary(max_size=30), st.none() | st.binary(max_size=40))
def test_hostile_bytes_are_refused(key: bytes, value: bytes | None) -> None:
    for start in (b"", b"\0\2"):
        for version in (b"", b"\0\3"):
            stored = None if value is None else version + value
            try:
                decode(start + key, stored)
            except ProtocolError:
                continue
