"""Kinds of keys and values."""

import pytest

from moldau.client.kinds import Sendable
from moldau.client.producer.intake import as_bytes


@pytest.mark.parametrize("sent", [b"a", "a", bytearray(b"a"), memoryview(b"a")])
def test_what_can_be_sent_needs_no_serializer(sent: Sendable) -> None:
    assert isinstance(sent, Sendable)
    assert as_bytes(sent) == b"a"
