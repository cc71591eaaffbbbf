"""The bytes that members exchange, also with members that are not ours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.client.group.consumer_bytes import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from moldau.errors import ProtocolError
from moldau.model import TopicPartition
from moldau.protocol.codec import encode
from moldau.protocol.messages.consumer_protocol import ConsumerProtocolSubscription


def test_a_subscription_is_read_back() -> None:
    assert decode_subscription(encode_subscription(["t", "u"])) == ["t", "u"]


def test_an_assignment_is_read_back() -> None:
    partitions = [TopicPartition("t", 0), TopicPartition("t", 2), TopicPartition("u", 1)]
    assert decode_assignment(encode_assignment(partitions)) == partitions


def test_no_bytes_are_no_assignment() -> None:
    assert decode_assignment(b"") == []


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_newer_members_are_understood(version: int) -> None:
    body = encode(ConsumerProtocolSubscription(topics=["t"]), version)
    assert decode_subscription(version.to_bytes(2, "big") + body) == ["t"]


def test_a_version_that_is_not_yet_known_is_read_as_the_newest() -> None:
    body = encode(ConsumerProtocolSubscription(topics=["t"]), 3)
    assert decode_subscription((9).to_bytes(2, "big") + body + b"more") == ["t"]


def test_the_bytes_are_those_of_java() -> None:
    assert encode_subscription(["t"]).hex() == "000000000001000174ffffffff"


@given(st.binary(max_size=30))
def test_nonsense_is_a_protocol_error(data: bytes) -> None:
    for decode_it in (decode_subscription, decode_assignment):
        try:
            decode_it(data)
        except ProtocolError:
            continue
