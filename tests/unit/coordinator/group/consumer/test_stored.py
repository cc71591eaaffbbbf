"""What the values of records hold."""

from dataclasses import replace

from moldau.coordinator.group.consumer import stored
from moldau.coordinator.group.consumer.member import ConsumerMember, MemberState
from moldau.coordinator.group.consumer.topics import ObservedTopic
from unit.coordinator.group.consumer.samples import T, classic


def test_a_subscription_is_all_that_a_member_says() -> None:
    member = ConsumerMember(
        member_id="",
        instance_id="i",
        rack_id="r",
        client_id="c",
        client_host="/h",
        rebalance_timeout_ms=9,
        topic_names=("t", "u"),
        topic_pattern="x.*",
        assignor="range",
    )
    moved = replace(member, epoch=3, assigned={T: (0,)})
    assert stored.subscription_from(stored.subscription_value(moved)) == member


def test_a_classic_member_keeps_its_protocols() -> None:
    member = classic("")
    assert stored.subscription_from(stored.subscription_value(member)) == member


def test_a_pattern_that_is_not_there_reads_as_none() -> None:
    value = stored.subscription_value(ConsumerMember(member_id=""))
    value.subscribed_topic_regex = None
    assert stored.subscription_from(value).topic_pattern == ""


def test_a_state_of_a_newer_coordinator_is_not_known() -> None:
    value = stored.current_value(ConsumerMember(member_id=""))
    value.state = 5
    assert stored.current_from(value).state is MemberState.UNKNOWN


def test_racks_are_kept_in_order() -> None:
    value = stored.topics_value({"t": ObservedTopic(T, 1, {0: ("b", "a")})})
    assert stored.topics_from(value) == {"t": ObservedTopic(T, 1, {0: ("a", "b")})}


def test_targets_assignments_and_patterns_are_read_back() -> None:
    assert stored.target_from(stored.target_value({T: (0, 1)})) == {T: (0, 1)}
    moved = ConsumerMember(member_id="", epoch=2, previous_epoch=1, revoking={T: (1,)})
    assert stored.current_from(stored.current_value(moved)) == moved
    resolved = stored.ResolvedPattern(("t",), 7)
    assert stored.pattern_from(stored.pattern_value(resolved)) == resolved


def test_what_a_pattern_stands_for_is_kept_with_its_time() -> None:
    resolved = stored.ResolvedPattern(("t", "u"), 7)
    assert stored.pattern_from(stored.pattern_value(resolved)) == resolved
    assert stored.ResolvedPattern(("t",)) == (("t",), 0)
