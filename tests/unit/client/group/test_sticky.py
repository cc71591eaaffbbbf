"""Members keep what they have, and have about the same."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from moldau.client.group.member import Assignments, GroupParticipant
from moldau.client.group.sticky import assign_cooperative_sticky, assign_sticky
from moldau.model import TopicPartition

PARTITIONS = {"t": [0, 1, 2, 3], "u": [0, 1]}


def owned(*names: str) -> list[TopicPartition]:
    return [TopicPartition(name[0], int(name[1:])) for name in names]


def short(assignments: Assignments) -> dict[str, list[str]]:
    return {
        member: sorted(f"{each.topic}{each.partition}" for each in dealt)
        for member, dealt in assignments.items()
    }


def test_the_first_deal_is_even() -> None:
    members = [GroupParticipant("a", ["t", "u"]), GroupParticipant("b", ["t", "u"])]
    dealt = assign_sticky(members, PARTITIONS)
    assert sorted(map(len, dealt.values())) == [3, 3]


def test_what_is_had_is_kept_and_a_newcomer_gets_its_share() -> None:
    members = [
        GroupParticipant("a", ["t", "u"], owned=owned("t0", "t1", "u0"), generation=1),
        GroupParticipant("b", ["t", "u"], owned=owned("t2", "t3", "u1"), generation=1),
        GroupParticipant("c", ["t", "u"]),
    ]
    dealt = assign_sticky(members, PARTITIONS)
    assert short(dealt) == {"a": ["t0", "t1"], "b": ["t2", "t3"], "c": ["u0", "u1"]}


def test_a_newcomer_waits_until_others_have_given_back() -> None:
    members = [
        GroupParticipant("a", ["t", "u"], owned=owned("t0", "t1", "u0"), generation=1),
        GroupParticipant("b", ["t", "u"], owned=owned("t2", "t3", "u1"), generation=1),
        GroupParticipant("c", ["t", "u"]),
    ]
    dealt = assign_cooperative_sticky(members, PARTITIONS)
    assert short(dealt) == {"a": ["t0", "t1"], "b": ["t2", "t3"], "c": []}
    members[:2] = [
        GroupParticipant("a", ["t", "u"], owned=owned("t0", "t1"), generation=2),
        GroupParticipant("b", ["t", "u"], owned=owned("t2", "t3"), generation=2),
    ]
    dealt = assign_cooperative_sticky(members, PARTITIONS)
    assert short(dealt)["c"] == ["u0", "u1"]


def test_of_two_claims_the_newer_counts_and_equal_ones_do_not() -> None:
    stale = GroupParticipant("a", ["t"], owned=owned("t0", "t1"), generation=1)
    fresh = GroupParticipant("b", ["t"], owned=owned("t0"), generation=2)
    assert "t0" in short(assign_sticky([stale, fresh], {"t": [0, 1]}))["b"]
    twins = [GroupParticipant(name, ["t"], owned=owned("t0"), generation=1) for name in ("a", "b")]
    assert short(assign_sticky(twins, {"t": [0]})) == {"a": ["t0"], "b": []}


def test_what_is_not_there_or_not_wanted_any_more_is_not_kept() -> None:
    member = GroupParticipant("a", ["t"], owned=owned("t9", "u0", "t0"), generation=1)
    assert short(assign_sticky([member], {"t": [0], "u": [0]})) == {"a": ["t0"]}


MEMBERS = st.lists(
    st.tuples(
        st.sets(st.sampled_from("tuv"), min_size=1),
        st.lists(st.tuples(st.sampled_from("tuv"), st.integers(0, 5)), max_size=6),
        st.integers(-1, 3),
    ),
    min_size=1,
    max_size=5,
)
TOPICS = st.dictionaries(
    st.sampled_from("tuv"), st.integers(0, 6).map(lambda count: list(range(count)))
)


@given(MEMBERS, TOPICS)
def test_every_partition_has_one_reader_that_wants_it(
    drawn: Sequence[tuple[set[str], list[tuple[str, int]], int]],
    partitions: Mapping[str, Sequence[int]],
) -> None:
    members = [
        GroupParticipant(
            f"m{number}", sorted(topics), owned=[TopicPartition(*one) for one in had], generation=at
        )
        for number, (topics, had, at) in enumerate(drawn)
    ]
    dealt = assign_sticky(members, partitions)
    wanted = {topic for member in members for topic in member.topics}
    everything = sorted(
        TopicPartition(topic, each)
        for topic, numbers in partitions.items()
        if topic in wanted
        for each in numbers
    )
    assert sorted(each for own in dealt.values() for each in own) == everything
    topics_of = {member.member_id: member.topics for member in members}
    for member_id, own in dealt.items():
        assert all(each.topic in topics_of[member_id] for each in own)
        for each in own:  # nobody who could have it has two fewer
            others = [name for name in dealt if each.topic in topics_of[name]]
            assert min(len(dealt[name]) for name in others) + 1 >= len(own)
