"""Replicas of a partition that moves, from step to step."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.controller.cluster import ReplicaAssignment
from moldau.controller.reassignment import (
    cancelled,
    finished,
    is_complete,
    is_under_way,
    origin_of,
    problem_of,
    started,
    target_of,
)

REPLICAS = st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True)


def test_a_move_adds_first_and_removes_later() -> None:
    moving = started(ReplicaAssignment((1, 2)), (2, 3))
    assert moving == ReplicaAssignment(replicas=(2, 3, 1), adding=(3,), removing=(1,))
    assert is_under_way(moving)
    assert not is_complete(moving, (1, 2))
    assert is_complete(moving, (3, 1, 2))
    assert finished(moving) == ReplicaAssignment((2, 3))


def test_a_move_to_where_it_is_is_none() -> None:
    assert not is_under_way(started(ReplicaAssignment((1, 2)), (1, 2)))
    assert not is_complete(ReplicaAssignment((1, 2)), (1, 2))


def test_a_new_order_alone_is_done_at_once() -> None:
    turned = started(ReplicaAssignment((1, 2)), (2, 1))
    assert turned == ReplicaAssignment((2, 1))


def test_a_cancelled_move_goes_back() -> None:
    back = cancelled(started(ReplicaAssignment((1, 2)), (2, 3)))
    assert back == ReplicaAssignment(replicas=(2, 1))


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ((), "Empty"),
        ((2, 2), "Duplicate"),
        ((-1, 2), "Invalid"),
        ((2, 4), "not alive"),
        ((1, 3), None),
        ((0, 3), None),
        ((0, 2, 3), None),
    ],
)
def test_only_replicas_that_come_have_to_be_there(
    target: tuple[int, ...], problem: str | None
) -> None:
    found = problem_of(ReplicaAssignment((1, 2)), target, {2: None, 3: None, 0: None})
    assert problem in found if problem and found else found is problem


@given(REPLICAS, REPLICAS, REPLICAS)
def test_wherever_it_goes_it_comes_from_where_it_was(
    first: list[int], second: list[int], third: list[int]
) -> None:
    moving = started(ReplicaAssignment(tuple(first)), second)
    assert set(origin_of(moving)) == set(first)
    assert target_of(moving) == tuple(second)
    turned = started(moving, third)
    assert set(origin_of(turned)) == set(first)
    assert target_of(turned) == tuple(third)
    back = cancelled(turned)
    assert set(target_of(back)) == set(first)


def test_replicas_that_only_come_or_only_go_are_a_move_too() -> None:
    growing, shrinking = (
        started(ReplicaAssignment((1,)), (1, 2)),
        started(ReplicaAssignment((1, 2)), (1,)),
    )
    assert is_under_way(growing)
    assert is_under_way(shrinking)
    assert is_complete(growing, (1, 2))
    assert is_complete(shrinking, (1,))


def test_a_long_list_is_cut_short_in_the_message() -> None:
    few, many = [9, 8], list(range(9, 200))
    assert (problem_of(ReplicaAssignment((1,)), few, {}) or "").count("[9, 8], live") == 1
    assert ", ...]" in (problem_of(ReplicaAssignment((1,)), many, {}) or "")


def test_a_partition_may_go_to_every_live_broker() -> None:
    assert problem_of(ReplicaAssignment((3,)), (1, 2), {1, 2}) is None


def test_of_a_list_that_makes_no_sense_the_first_hundred_are_shown() -> None:
    shown = problem_of(ReplicaAssignment((1,)), [1] * 100, {1})
    assert shown is not None
    assert shown.endswith("[" + ", ".join(["1"] * 100) + "]")
    cut = problem_of(ReplicaAssignment((1,)), [1] * 101, {1})
    assert cut is not None
    assert cut.endswith("[" + ", ".join(["1"] * 100) + ", ...]")
