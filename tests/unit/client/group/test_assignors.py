"""How partitions are dealt out, as Java's assignors do it."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.client.group.assignors import (
    ASSIGNORS,
    assign_range,
    assign_round_robin,
    assignors_of,
)
from moldau.client.group.member import Assign, Assignments, GroupParticipant
from moldau.errors import InvalidConfig


def short(assignments: Assignments) -> dict[str, list[str]]:
    return {member: [str(each) for each in dealt] for member, dealt in assignments.items()}


def test_ranges_are_per_topic_and_the_first_have_more() -> None:
    members = [GroupParticipant("b", ["t", "u"]), GroupParticipant("a", ["t", "u"])]
    assert short(assign_range(members, {"t": [0, 1, 2], "u": [0, 1, 2]})) == {
        "a": ["t-0", "t-1", "u-0", "u-1"],
        "b": ["t-2", "u-2"],
    }


def test_round_robin_goes_on_from_topic_to_topic() -> None:
    members = [GroupParticipant("b", ["t", "u"]), GroupParticipant("a", ["t", "u"])]
    assert short(assign_round_robin(members, {"t": [0, 1, 2], "u": [0, 1, 2]})) == {
        "a": ["t-0", "t-2", "u-1"],
        "b": ["t-1", "u-0", "u-2"],
    }


def test_round_robin_passes_members_that_do_not_read_a_topic() -> None:
    members = [
        GroupParticipant("a", ["t"]),
        GroupParticipant("b", ["t", "u"]),
        GroupParticipant("c", ["t", "u"]),
    ]
    assert short(assign_round_robin(members, {"t": [0], "u": [0, 1], "v": [0]})) == {
        "a": ["t-0"],
        "b": ["u-0"],
        "c": ["u-1"],
    }


def test_static_members_keep_their_place_whatever_their_member_id() -> None:
    members = [GroupParticipant("a", ["t"]), GroupParticipant("z", ["t"], instance_id="one")]
    assert short(assign_range(members, {"t": [0, 1, 2]})) == {
        "z": ["t-0", "t-1"],
        "a": ["t-2"],
    }


topics = st.sampled_from(["t", "u", "v"])
subscriptions = st.lists(st.lists(topics, unique=True), min_size=1, max_size=5)
counts = st.fixed_dictionaries({name: st.integers(0, 7) for name in ("t", "u", "v")})


@pytest.mark.parametrize("assign", ASSIGNORS.values(), ids=list(ASSIGNORS))
@given(subscriptions=subscriptions, counts=counts)
def test_each_partition_has_one_reader_if_anybody_reads_its_topic(
    assign: Assign, subscriptions: list[Sequence[str]], counts: dict[str, int]
) -> None:
    members = [GroupParticipant(f"m{number}", each) for number, each in enumerate(subscriptions)]
    partitions = {topic: list(range(count)) for topic, count in counts.items()}
    assignments = assign(members, partitions)
    assert assignments.keys() == {member.member_id for member in members}
    dealt = sorted(each for dealt in assignments.values() for each in dealt)
    read = {topic for member in members for topic in member.topics}
    assert dealt == [(topic, each) for topic in sorted(read) for each in partitions[topic]]
    for member in members:
        assert {each.topic for each in assignments[member.member_id]} <= set(member.topics)


def test_assignors_are_chosen_by_name() -> None:
    assert list(assignors_of("roundrobin, range")) == ["roundrobin", "range"]
    with pytest.raises(InvalidConfig, match=r"partition\.assignment\.strategy.*range, roundrobin"):
        assignors_of("fair")


def test_the_names_of_java_s_classes_are_known() -> None:
    names = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor, range"
    assert list(assignors_of(names)) == ["cooperative-sticky", "range"]
