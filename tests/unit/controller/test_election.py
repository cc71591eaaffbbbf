"""Elections: who leads when the leader is new, gone, preferred, reassigned or stopping."""

from moldau.controller.election import (
    Elected,
    elect_first,
    elect_for_shutdown,
    elect_offline,
    elect_preferred,
    elect_reassigned,
)


def test_a_new_partition_is_led_by_its_first_live_replica() -> None:
    assert elect_first([3, 1, 2], {1, 2}) == Elected(1, (1, 2))
    assert elect_first([3], {1, 2}) is None


def test_only_an_in_sync_replica_takes_over() -> None:
    assert elect_offline([1, 2, 3], [1, 3], {2, 3}, is_unclean_allowed=False) == Elected(3, (3,))
    assert elect_offline([1, 2, 3], [1], {2, 3}, is_unclean_allowed=False) is None


def test_an_unclean_election_takes_anyone_and_forgets_the_others() -> None:
    elected = elect_offline([1, 2, 3], [1], {2, 3}, is_unclean_allowed=True)
    assert elected == Elected(2, (2,), is_unclean=True)
    assert elect_offline([1], [1], set(), is_unclean_allowed=True) is None


def test_the_preferred_leader_is_the_first_replica_or_nobody() -> None:
    assert elect_preferred([2, 1], [1, 2], {1, 2}) == Elected(2, (1, 2))
    assert elect_preferred([2, 1], [1], {1, 2}) is None
    assert elect_preferred([2, 1], [1, 2], {1}) is None


def test_a_reassigned_partition_is_led_by_a_new_replica_that_is_in_sync() -> None:
    assert elect_reassigned([4, 5], [1, 5], {1, 4, 5}) == Elected(5, (1, 5))
    assert elect_reassigned([4], [1], {1, 4}) is None


def test_a_stopping_leader_hands_over_to_one_that_stays() -> None:
    assert elect_for_shutdown([1, 2, 3], [1, 2, 3], {1, 2, 3}, {1, 2}) == Elected(3, (3,))
    assert elect_for_shutdown([1], [1], {1}, {1}) is None


def test_only_a_live_replica_takes_over_from_a_stopping_one() -> None:
    assert elect_for_shutdown([1, 2, 3], [1, 2, 3], {1, 3}, {1}) == Elected(3, (2, 3))


def test_first_leaders_and_those_in_sync_are_not_unclean() -> None:
    first = elect_first((1, 2), {1, 2})
    assert first is not None
    assert not first.is_unclean
    after = elect_offline((1, 2), (2,), {2}, is_unclean_allowed=True)
    assert after is not None
    assert not after.is_unclean
