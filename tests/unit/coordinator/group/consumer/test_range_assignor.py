"""Runs of neighbours."""

from moldau.coordinator.group.consumer.assignor import MemberCandidate
from moldau.coordinator.group.consumer.range_assignor import assign
from unit.coordinator.group.consumer.samples import T, U


def test_the_first_members_get_one_more() -> None:
    members = [MemberCandidate(name, None, (T,), {}) for name in "ba"]
    assert assign(members, {T: 3}) == {"a": {T: (0, 1)}, "b": {T: (2,)}}


def test_topics_of_one_size_are_shared_alike() -> None:
    members = [MemberCandidate(name, None, (T, U), {}) for name in "abc"]
    targets = assign(members, {T: 3, U: 3})
    assert targets == {name: {T: (n,), U: (n,)} for n, name in enumerate("abc")}


def test_each_topic_is_shared_among_its_subscribers() -> None:
    members = [MemberCandidate("a", None, (T,), {}), MemberCandidate("b", None, (T, U), {})]
    assert assign(members, {T: 2, U: 2}) == {"a": {T: (0,)}, "b": {T: (1,), U: (0, 1)}}


def test_there_may_be_more_members_than_partitions() -> None:
    members = [MemberCandidate(name, None, (T,), {}) for name in "ab"]
    assert assign(members, {T: 1}) == {"a": {T: (0,)}, "b": {}}
