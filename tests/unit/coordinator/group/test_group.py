"""Members of a group, their leader and their protocol."""

import pytest

from moldau.coordinator.group.messages import MemberIdentity
from moldau.coordinator.group.state import GroupState
from moldau.errors import ErrorCode
from unit.coordinator.group.samples import group_of, member, subscription


def test_the_first_member_leads_and_the_next_one_after_it() -> None:
    group = group_of(member("a"), member("b"))
    assert group.is_leader("a")
    group.remove("a")
    assert group.is_leader("b")
    group.remove("b")
    assert group.leader_id is None


def test_a_leader_that_is_not_there_is_replaced_by_one_that_is() -> None:
    group = group_of(member("a"), member("b"))
    group.members["a"].join = None
    assert not group.have_all_joined
    assert group.elect_joined_leader()
    assert group.is_leader("b")
    group.members["b"].join = None
    assert not group.elect_joined_leader()
    assert group.awaiting_join_count == 0


def test_a_group_waits_for_ids_that_it_gave_out() -> None:
    group = group_of(member("a"))
    group.pending_ids["b"] = None
    assert not group.have_all_joined
    group.remove("b")
    assert bool(group.have_all_joined)


def test_it_waits_as_long_as_the_most_patient_member() -> None:
    slow = member("b")
    slow.rebalance_timeout_ms = 99_000
    assert group_of(member("a"), slow).rebalance_timeout_ms == 99_000
    assert group_of().rebalance_timeout_ms == 0


def test_the_protocol_is_what_all_support_and_most_like_best() -> None:
    group = group_of(
        member("a", "range", "sticky"),
        member("b", "sticky", "range"),
        member("c", "sticky", "range", "other"),
    )
    assert group.select_protocol() == "sticky"
    group.set_protocols(group.members["b"], (("range", b""),))
    assert group.select_protocol() == "range"
    group.remove("b")
    assert group.select_protocol() in ("range", "sticky")


def test_newcomers_must_fit() -> None:
    group = group_of(member("a", "range", "sticky"))
    assert group.supports("anything", (("x", b""),)), "an empty group takes anybody"
    assert not group.supports("", (("x", b""),))
    assert not group.supports("consumer", ())
    group.state = GroupState.STABLE
    assert group.supports("consumer", (("x", b""), ("sticky", b"")))
    assert not group.supports("consumer", (("x", b""),))
    assert not group.supports("connect", (("sticky", b""),))


def test_a_static_member_is_known_by_its_instance() -> None:
    group = group_of(member("a", instance_id="i"), member("b"))
    assert group.fault_of(MemberIdentity("a", instance_id="i")) is None
    assert group.fault_of(MemberIdentity("b", instance_id="i")) is ErrorCode.FENCED_INSTANCE_ID
    assert group.fault_of(MemberIdentity("a", instance_id="j")) is ErrorCode.UNKNOWN_MEMBER_ID
    assert group.fault_of(MemberIdentity("c")) is ErrorCode.UNKNOWN_MEMBER_ID
    group.expected_syncs = {"a": None, "b": None}
    group.rename(group.members["a"], "a2")
    assert group.is_leader("a2")
    assert list(group.members) == ["a2", "b"]
    assert list(group.expected_syncs) == ["b", "a2"]
    group.remove("a2")
    assert group.static_ids == {}


@pytest.mark.parametrize("has_members", [True, False])
def test_what_is_stored_is_restored(has_members: bool) -> None:
    members = [member("a", instance_id="i"), member("b", "range", "x")] if has_members else []
    group = group_of(*members)
    group.protocol_type = "consumer"
    group.begin_generation(wall_ms=77)
    restored = group_of()
    restored.apply(group.stored({"a": b"0", "b": b"1"}))
    assert restored.state is (GroupState.STABLE if has_members else GroupState.EMPTY)
    assert (restored.generation, restored.state_timestamp) == (1, 77)
    assert restored.leader_id == ("a" if has_members else None)
    assert restored.static_ids == ({"i": "a"} if has_members else {})
    assert [each.assignment for each in restored.members.values()] == [b"0", b"1"][: len(members)]
    assert restored.subscribed == (frozenset({"t"}) if has_members else frozenset())


def test_the_first_format_had_one_timeout_for_both() -> None:
    group = group_of(member("a"))
    group.begin_generation(wall_ms=0)
    value = group.stored({})
    value.members[0].rebalance_timeout = -1
    restored = group_of()
    restored.apply(value)
    assert restored.members["a"].rebalance_timeout_ms == 10_000


def test_members_who_are_here_keep_what_is_not_stored() -> None:
    group = group_of(member("a", "range", "sticky"))
    group.begin_generation(wall_ms=0)
    group.apply(group.stored({"a": b"0"}))
    assert len(group.members["a"].protocols) == 2
    assert group.select_protocol() == "range"


def test_what_cannot_be_read_may_be_any_topic() -> None:
    group = group_of(member("a"))
    group.begin_generation(wall_ms=0)
    assert group.is_subscribed("t")
    assert not group.is_subscribed("u")
    group.set_protocols(group.members["a"], (("range", b"?"),))
    group.begin_generation(wall_ms=0)
    assert group.is_subscribed("u")


def test_assignments_are_shown_only_while_they_hold() -> None:
    group = group_of(member("a"))
    group.begin_generation(wall_ms=0)
    assert group.describe().protocol_name == ""
    assert group.describe().members[0].metadata == b""
    group.apply(group.stored({"a": b"0"}))
    shown = group.describe()
    assert (shown.state, shown.protocol_type, shown.protocol_name) == (
        "Stable",
        "consumer",
        "range",
    )
    assert (shown.members[0].metadata, shown.members[0].assignment) == (subscription("t"), b"0")
    assert shown.members[0].client_host == "/10.0.0.1"
    assert group.joined_members() == (("a", None, subscription("t")),)


def test_a_group_that_becomes_another_type_has_no_subscriptions() -> None:
    group = group_of(member("a"))
    group.begin_generation(wall_ms=0)
    assert group.subscribed == frozenset({"t"})
    group.remove("a")
    group.begin_generation(wall_ms=0)
    worker = member("w", "connect")
    group.add(worker, "connect")
    group.begin_generation(wall_ms=0)
    assert group.subscribed is None


def test_a_group_without_members_or_with_a_leader_that_joined_elects_nobody() -> None:
    assert not group_of().elect_joined_leader()
    group = group_of(member("a"), member("b"))
    assert group.elect_joined_leader()
    assert group.is_leader("a")


def test_a_static_member_that_comes_back_takes_the_place_of_its_old_id() -> None:
    group = group_of(member("a", instance_id="i"), member("b", instance_id="j"))
    group.expected_syncs["b"] = None
    group.rename(group.members["b"], "c")
    assert list(group.members) == ["a", "c"]
    assert list(group.expected_syncs) == ["c"]
    assert group.is_leader("a")
    group.rename(group.members["a"], "d")
    assert group.is_leader("d")
    assert list(group.expected_syncs) == ["c"]
    assert group.static_ids == {"i": "d", "j": "c"}
