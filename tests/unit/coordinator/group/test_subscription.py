"""The topics of consumers are read from any version of their metadata."""

import pytest

from moldau.coordinator.group.subscription import subscribed_topics
from unit.coordinator.group.samples import subscription


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_all_topics_of_all_members_are_found(version: int) -> None:
    metadata = [subscription("a", "b", version=version), subscription("b", "c", version=version)]
    assert subscribed_topics(metadata) == frozenset({"a", "b", "c"})


def test_versions_to_come_begin_like_those_we_know() -> None:
    future = b"\0\x09" + subscription("a")[2:] + b"more"
    assert subscribed_topics([future]) == frozenset({"a"})


def test_nobody_subscribes_to_nothing() -> None:
    assert subscribed_topics([]) == frozenset()


@pytest.mark.parametrize("metadata", [b"", b"\0", b"\0\0\xff\xff", subscription("topic")[:8]])
def test_what_cannot_be_read_is_not_known(metadata: bytes) -> None:
    assert subscribed_topics([subscription("a"), metadata]) is None
