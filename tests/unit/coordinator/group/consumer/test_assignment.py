"""Sets of partitions."""

from hypothesis import given
from hypothesis import strategies as st

from moldau.coordinator.group.consumer.assignment import (
    NOTHING,
    Assignment,
    assignment_of,
    is_within,
    joined,
    partitions_of,
    shared,
    without,
)

PAIRS = st.lists(st.tuples(st.binary(min_size=1, max_size=1), st.lists(st.integers(0, 3))))


def as_set(assignment: Assignment) -> set[tuple[bytes, int]]:
    return set(partitions_of(assignment))


def test_topics_without_partitions_are_left_out_and_numbers_come_in_order() -> None:
    pairs = [(b"b", [3, 1]), (b"a", []), (b"b", [1, 2])]
    assert assignment_of(pairs) == {b"b": (1, 2, 3)}
    assert assignment_of([]) == NOTHING


@given(PAIRS, PAIRS)
def test_the_operations_are_those_of_sets(
    one: list[tuple[bytes, list[int]]], other: list[tuple[bytes, list[int]]]
) -> None:
    a, b = assignment_of(one), assignment_of(other)
    assert as_set(shared(a, b)) == as_set(a) & as_set(b)
    assert as_set(without(a, b)) == as_set(a) - as_set(b)
    assert as_set(joined(a, b)) == as_set(a) | as_set(b)
    assert is_within(a, b) == (as_set(a) <= as_set(b))
    for result in (shared(a, b), without(a, b), joined(a, b)):
        assert result == assignment_of(result.items()), "made as every assignment is"
