"""A member votes for what it likes, and says what it knows."""

import pytest

from moldau.coordinator.decision import PendingReply
from unit.coordinator.group.samples import member, subscription


def test_it_votes_for_the_first_of_its_protocols_that_is_possible() -> None:
    one = member("a", "sticky", "range")
    assert one.vote(["range", "sticky"]) == "sticky"
    assert one.vote(["range"]) == "range"


def test_metadata_belongs_to_a_protocol() -> None:
    one = member("a", "range")
    assert one.metadata("range") == subscription("t")
    with pytest.raises(AssertionError):
        one.metadata("sticky")


def test_one_with_an_instance_id_is_static() -> None:
    assert member("a", instance_id="i").is_static
    assert not member("a").is_static


def test_one_that_waits_for_us_is_parked() -> None:
    joining, syncing = member("a"), member("b")
    joining.join = PendingReply()
    syncing.sync = PendingReply()
    assert joining.is_parked
    assert syncing.is_parked
    assert not member("c").is_parked


def test_one_is_new_only_where_it_is_said() -> None:
    assert not member("a").is_new
