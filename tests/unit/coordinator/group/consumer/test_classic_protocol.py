"""What classic consumers write."""

import pytest

from moldau.coordinator.group.consumer.classic_protocol import (
    owned_partitions,
    read_assignment,
    read_subscription,
    topic_names,
    write_assignment,
)
from moldau.errors import ErrorCode, KafkaError
from unit.coordinator.group.consumer.samples import T, U, classic, image, subscription


def test_a_subscription_is_read_in_any_version() -> None:
    for version in range(4):
        found = read_subscription(subscription("u", "t", "u", owned={"t": [1]}, version=version))
        assert topic_names(found) == ("t", "u")
    newer = b"\0\x09" + subscription("t", version=3)[2:] + b"of a later version"
    assert topic_names(read_subscription(newer)) == ("t",)
    owned = read_subscription(subscription("t", owned={"t": [1, 0], "gone": [0]}))
    assert owned_partitions(owned, image(t=2)) == {T: (0, 1)}


@pytest.mark.parametrize("read", [read_subscription, lambda data: read_assignment(data, image())])
def test_other_bytes_are_refused(read: object) -> None:
    with pytest.raises(KafkaError) as caught:
        read(b"\0\1\xff")  # type: ignore[operator]
    assert caught.value.code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_an_assignment_is_written_as_the_member_reads() -> None:
    member = classic("a", assigned={T: (0, 1), U: (0,)})
    data = write_assignment(member, image(t=2))
    assert data[:2] == b"\0\1", "in the version of its subscription"
    assert read_assignment(data, image(t=2, u=1)) == {T: (0, 1)}, "without topics that are gone"
    assert read_assignment(b"", image()) == {}
