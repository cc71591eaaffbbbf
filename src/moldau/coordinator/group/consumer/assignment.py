"""Partitions of topics, by topic id: what a member owns, gives up or shall have."""

from collections.abc import Iterable, Iterator, Mapping

Assignment = Mapping[bytes, tuple[int, ...]]
"""Never changed once made; numbers are in order, and no topic is there without partitions."""

NOTHING: Assignment = {}


def assignment_of(partitions: Iterable[tuple[bytes, Iterable[int]]]) -> Assignment:
    """An assignment from topics in any order, with numbers in any order."""
    found: dict[bytes, dict[int, None]] = {}
    for topic_id, numbers in partitions:
        found.setdefault(topic_id, {}).update(dict.fromkeys(numbers))
    return {
        topic_id: tuple(sorted(found[topic_id])) for topic_id in sorted(found) if found[topic_id]
    }


def partitions_of(assignment: Assignment) -> Iterator[tuple[bytes, int]]:
    """Every partition."""
    for topic_id, numbers in assignment.items():
        for number in numbers:
            yield topic_id, number


def shared(one: Assignment, other: Assignment) -> Assignment:
    """What is in both."""
    return _selected(one, other, is_in_other=True)


def without(one: Assignment, other: Assignment) -> Assignment:
    """What is in one, but not in the other."""
    return _selected(one, other, is_in_other=False)


def joined(one: Assignment, other: Assignment) -> Assignment:
    """What is in either."""
    return assignment_of([*one.items(), *other.items()])


def is_within(one: Assignment, other: Assignment) -> bool:
    """Whether all of one is in the other."""
    return not without(one, other)


def _selected(one: Assignment, other: Assignment, *, is_in_other: bool) -> Assignment:
    selected: dict[bytes, tuple[int, ...]] = {}
    for topic_id, numbers in one.items():
        others = frozenset(other.get(topic_id, ()))
        kept = tuple(number for number in numbers if (number in others) is is_in_other)
        if kept:
            selected[topic_id] = kept
    return selected
