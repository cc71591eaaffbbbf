"""The bytes that members exchange, also with members that are not ours."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.client.group.consumer_bytes import (
    MemberSubscription,
    StickyUserData,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_cooperative_subscription,
    encode_sticky_subscription,
    encode_subscription,
)
from moldau.errors import ProtocolError
from moldau.model import TopicPartition
from moldau.protocol.codec import encode
from moldau.protocol.messages.consumer_protocol import ConsumerProtocolSubscription
from moldau.protocol.messages.consumer_protocol import TopicPartition as PartitionsOfTopic


def test_a_subscription_is_read_back() -> None:
    wanted = MemberSubscription(["t", "u"])
    assert decode_subscription(encode_subscription(wanted)) == (["t", "u"], [], -1)


@pytest.mark.parametrize("encode_it", [encode_sticky_subscription, encode_cooperative_subscription])
def test_what_a_member_had_is_read_back(
    encode_it: Callable[[MemberSubscription], bytes],
) -> None:
    known = MemberSubscription(["t"], [TopicPartition("t", 0), TopicPartition("u", 3)], 7)
    assert decode_subscription(encode_it(known)) == known


def test_the_oldest_sticky_members_have_no_generation() -> None:
    had = StickyUserData(previous_assignment=[PartitionsOfTopic(topic="t", partitions=[1])])
    written = ConsumerProtocolSubscription(topics=["t"], user_data=encode(had, 0))
    data = bytes(2) + encode(written, 0)
    assert decode_subscription(data) == (["t"], [TopicPartition("t", 1)], -1)


def test_user_data_of_other_assignors_says_nothing() -> None:
    written = ConsumerProtocolSubscription(topics=["t"], user_data=b"something else")
    assert decode_subscription(bytes(2) + encode(written, 0)) == (["t"], [], -1)


def test_the_user_data_of_sticky_members_is_java_s() -> None:
    known = MemberSubscription([], [TopicPartition("t", 1)], 2)
    data = encode_sticky_subscription(known).hex()
    assert data == "0000000000000000001300000001000174000000010000000100000002"


def test_an_assignment_is_read_back() -> None:
    partitions = [TopicPartition("t", 0), TopicPartition("t", 2), TopicPartition("u", 1)]
    assert decode_assignment(encode_assignment(partitions)) == partitions


def test_no_bytes_are_no_assignment() -> None:
    assert decode_assignment(b"") == []


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_newer_members_are_understood(version: int) -> None:
    body = encode(ConsumerProtocolSubscription(topics=["t"]), version)
    assert decode_subscription(version.to_bytes(2, "big") + body).topics == ["t"]


def test_a_version_that_is_not_yet_known_is_read_as_the_newest() -> None:
    body = encode(ConsumerProtocolSubscription(topics=["t"]), 3)
    assert decode_subscription((9).to_bytes(2, "big") + body + b"more").topics == ["t"]


def test_the_bytes_are_those_of_java() -> None:
    assert encode_subscription(MemberSubscription(["t"])).hex() == "000000000001000174ffffffff"


@given(st.binary(max_size=30))
def test_nonsense_is_a_protocol_error(data: bytes) -> None:
    for decode_it in (decode_subscription, decode_assignment):
        try:
            decode_it(data)
        except ProtocolError:
            continue
