"""What an encoder refuses, and what it leaves out."""

import pytest

from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.codec import decode, encode
from moldau.protocol.declaration import message, since, struct
from moldau.protocol.encoder import compile_encoder
from moldau.protocol.messages.consumer_group_records import (
    ClassicMemberMetadata,
    ConsumerGroupMemberMetadataValue,
)
from moldau.protocol.messages.fetch import FetchRequest, LeaderIdAndEpoch, PartitionData
from moldau.protocol.messages.metadata import MetadataRequest
from moldau.protocol.primitives import Int8, Int32


@struct
class Inner:
    number: Int32 = 7


@message(versions=range(0, 3), flexible_from=2)  # noqa: PIE808
class Sample:
    kept: Int8 = 0
    strict: str = since(1, default="")
    lenient: str = since(1, default="", ignorable=True)
    numbers: list[Int32] = since(1, factory=list)
    nullable: list[Int32] | None = since(1, factory=list)
    inner: Inner | None = since(2, tag=0, default=None)
    other: Int32 = since(2, tag=3, default=-1)


def refused(sample: object, version: int) -> str:
    with pytest.raises(KafkaError) as caught:
        encode(sample, version)
    assert caught.value.code is ErrorCode.UNSUPPORTED_VERSION
    return str(caught.value)


def test_a_value_that_the_version_lacks_is_refused() -> None:
    assert refused(Sample(strict="x"), 0) == "Sample version 0 cannot carry strict='x'"
    assert refused(Sample(numbers=[1]), 0) == "Sample version 0 cannot carry numbers=[1]"
    assert refused(Sample(nullable=None), 0) == "Sample version 0 cannot carry nullable=None"
    assert refused(Sample(inner=Inner(number=8)), 1).startswith(
        "Sample version 1 cannot carry inner"
    )
    assert refused(Sample(other=0), 1) == "Sample version 1 cannot carry other=0"


def test_an_ignorable_value_is_left_out() -> None:
    assert encode(Sample(lenient="x"), 0) == b"\0"


def test_a_default_is_no_obstacle() -> None:
    assert encode(Sample(inner=Inner()), 0) == b"\0"


def test_null_is_refused_by_versions_that_have_no_null() -> None:
    assert refused(MetadataRequest(topics=None), 0) == (
        "MetadataRequest version 0 cannot carry topics=None"
    )
    assert encode(MetadataRequest(topics=None), 1) == b"\xff\xff\xff\xff"


def test_tagged_fields_with_their_default_are_left_out() -> None:
    assert encode(Sample(), 2) == b"\0\1\1\1\1\0"
    assert encode(Sample(inner=Inner()), 2) == encode(Sample(), 2)


def test_tagged_fields_ascend_and_carry_their_size() -> None:
    encoded = encode(Sample(inner=Inner(number=8), other=5), 2)
    assert encoded == b"\0\1\1\1\1" + b"\2" + b"\0\5\0\0\0\x08\0" + b"\3\4\0\0\0\5"


def test_a_struct_in_a_tag_is_absent_when_it_is_none() -> None:
    partition = PartitionData(
        partition_index=0,
        error_code=6,
        high_watermark=0,
        current_leader=LeaderIdAndEpoch(leader_id=2, leader_epoch=9),
        records=None,
    )
    assert partition.diverging_epoch is None
    assert encode(FetchRequest(max_wait_ms=0, min_bytes=0, topics=[]), 15)[-1] == 0


def test_a_nullable_struct_in_a_tag_has_a_marker_byte() -> None:
    value = ConsumerGroupMemberMetadataValue(
        instance_id=None,
        rack_id=None,
        client_id="c",
        client_host="h",
        subscribed_topic_names=[],
        subscribed_topic_regex=None,
        rebalance_timeout_ms=5,
        server_assignor=None,
        classic_member_metadata=ClassicMemberMetadata(session_timeout_ms=7, supported_protocols=[]),
    )
    encoded = encode(value, 0)
    # As written by kafka-group-coordinator 3.9.1.
    assert encoded.hex() == "0000026302680100000000050001000701000000070100"
    assert decode(ConsumerGroupMemberMetadataValue, 0, encoded) == (value, len(encoded))


def test_an_undeclared_version_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(AssertionError, match="Sample has no version 3"):
        compile_encoder(Sample, 3)
