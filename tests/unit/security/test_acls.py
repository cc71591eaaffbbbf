"""Access rules on the wire: filters, and operations in a number of bits."""

import pytest

from moldau.security.acls import (
    AclFilter,
    AclPattern,
    Operation,
    PatternType,
    ResourceType,
    operations_of,
)

TOPIC = AclPattern(ResourceType.TOPIC, "orders", PatternType.LITERAL)
PREFIX = AclPattern(ResourceType.TOPIC, "ord", PatternType.PREFIXED)


def test_bits_stand_for_operations() -> None:
    assert operations_of(1 << 3 | 1 << 8) == frozenset({Operation.READ, Operation.DESCRIBE})
    assert operations_of(0) == frozenset()


def test_a_broker_that_was_not_asked_says_nothing() -> None:
    assert operations_of(-(2**31)) is None


@pytest.mark.parametrize(
    ("kind", "name", "is_literal_meant", "is_prefix_meant"),
    [
        (PatternType.ANY, None, True, True),
        (PatternType.LITERAL, "orders", True, False),
        (PatternType.PREFIXED, "ord", False, True),
        (PatternType.MATCH, "orders", True, True),
        (PatternType.MATCH, "ordinary", False, True),
        (PatternType.ANY, "orders", True, False),
    ],
)
def test_a_filter_means_patterns(
    kind: PatternType, name: str | None, is_literal_meant: bool, is_prefix_meant: bool
) -> None:
    wanted = AclFilter(resource_name=name, pattern_type=kind)
    assert (wanted.means(TOPIC), wanted.means(PREFIX)) == (
        is_literal_meant,
        is_prefix_meant,
    )
    of_groups = AclFilter(resource_type=ResourceType.GROUP, pattern_type=kind)
    assert not of_groups.means(TOPIC)


def test_names_are_written_as_in_the_documentation() -> None:
    assert ResourceType.TRANSACTIONAL_ID.label == "TransactionalId"
    assert Operation.IDEMPOTENT_WRITE.label == "IdempotentWrite"
