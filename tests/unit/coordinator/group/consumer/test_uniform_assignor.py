"""Fair shares, and few moves."""

from hypothesis import given
from hypothesis import strategies as st

from moldau.coordinator.group.consumer.assignment import Assignment, partitions_of
from moldau.coordinator.group.consumer.assignor import MemberCandidate
from moldau.coordinator.group.consumer.uniform_assignor import assign
from unit.coordinator.group.consumer.samples import T, U, V

TOPICS = (T, U, V)
COUNTS = {T: 5, U: 3, V: 1}


def load(assignment: Assignment) -> int:
    return len(list(partitions_of(assignment)))


def moved(before: dict[str, Assignment], after: dict[str, Assignment]) -> int:
    """How many partitions a member has that another had."""
    return sum(
        any(partition in partitions_of(before[other]) for other in before if other != name)
        for name in after
        for partition in partitions_of(after[name])
    )


def test_a_newcomer_gets_its_share_and_nothing_else_moves() -> None:
    members = [MemberCandidate(name, None, (T, U), {}) for name in "ab"]
    before = assign(members, {T: 4, U: 4})
    assert [load(each) for each in before.values()] == [4, 4]
    again = [MemberCandidate(name, None, (T, U), before.get(name, {})) for name in "abc"]
    after = assign(again, {T: 4, U: 4})
    assert sorted(load(each) for each in after.values()) == [2, 3, 3]
    assert moved(before, after) == 2


def test_what_a_member_leaves_is_shared_and_nothing_else_moves() -> None:
    members = [MemberCandidate(name, None, (T,), {}) for name in "abc"]
    before = assign(members, {T: 9})
    after = assign([MemberCandidate(name, None, (T,), before[name]) for name in "ab"], {T: 9})
    assert sorted(load(each) for each in after.values()) == [4, 5]
    assert moved({name: before[name] for name in "ab"}, after) == 0


def test_nobody_keeps_what_is_gone_or_not_subscribed_to() -> None:
    member = MemberCandidate("a", None, (T,), {T: (0, 1, 7), U: (0,)})
    assert assign([member], {T: 1, U: 1}) == {"a": {T: (0,)}}


def test_two_members_cannot_both_keep_a_partition() -> None:
    members = [MemberCandidate(name, None, (T,), {T: (0, 1)}) for name in "ab"]
    assert assign(members, {T: 2}) == {"a": {T: (0,)}, "b": {T: (1,)}}


def test_there_may_be_nobody_or_nothing() -> None:
    assert assign([], {T: 1}) == {}
    assert assign([MemberCandidate("a", None, (), {})], {}) == {"a": {}}


def test_who_subscribes_to_less_gets_what_it_can() -> None:
    members = [
        MemberCandidate("a", None, (T,), {T: (0, 1)}),
        MemberCandidate("b", None, (T, U), {}),
    ]
    assert assign(members, {T: 2, U: 2}) == {"a": {T: (0, 1)}, "b": {U: (0, 1)}}
    crowded = [
        MemberCandidate("a", None, (T, U), {T: (0, 1), U: (0, 1)}),
        MemberCandidate("b", None, (T,), {}),
    ]
    assert [load(each) for each in assign(crowded, {T: 2, U: 2}).values()] == [2, 2]


@given(st.lists(st.lists(st.sampled_from(TOPICS), unique=True).map(sorted), min_size=1, max_size=5))
def test_every_partition_has_one_owner_who_subscribes_and_nobody_could_have_two_less(
    subscriptions: list[list[bytes]],
) -> None:
    members: list[MemberCandidate] = []
    targets: dict[str, Assignment] = {}
    for index, topics in enumerate(subscriptions):  # they come one after the other
        members = [each._replace(previous=targets[each.member_id]) for each in members]
        members.append(MemberCandidate(f"m{index}", None, tuple(topics), {}))
        targets = assign(members, COUNTS)
    topics_of = {each.member_id: each.topic_ids for each in members}
    owned = [
        (partition, name) for name, each in targets.items() for partition in partitions_of(each)
    ]
    wanted = {topic for topics in subscriptions for topic in topics}
    assert sorted(partition for partition, _ in owned) == sorted(
        (topic, number) for topic in wanted for number in range(COUNTS[topic])
    )
    for (topic_id, _), owner in owned:
        assert topic_id in topics_of[owner]
        others = [load(targets[name]) for name in topics_of if topic_id in topics_of[name]]
        assert load(targets[owner]) <= min(others) + 1
