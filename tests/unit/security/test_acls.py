"""Access rules on the wire: filters, and operations in a number of bits."""

from dataclasses import replace
from enum import IntEnum
from typing import Any

import pytest

from moldau.security.acls import (
    Acl,
    AclFilter,
    AclPattern,
    Operation,
    PatternType,
    Permission,
    ResourceType,
    operations_of,
)

# Kafka's own, as requests carry them.
NUMBERS: dict[type[IntEnum], str] = {
    ResourceType: "UNKNOWN ANY TOPIC GROUP CLUSTER TRANSACTIONAL_ID DELEGATION_TOKEN USER",
    PatternType: "UNKNOWN ANY MATCH LITERAL PREFIXED",
    Operation: (
        "UNKNOWN ANY ALL READ WRITE CREATE DELETE ALTER DESCRIBE CLUSTER_ACTION DESCRIBE_CONFIGS "
        "ALTER_CONFIGS IDEMPOTENT_WRITE CREATE_TOKENS DESCRIBE_TOKENS"
    ),
    Permission: "UNKNOWN ANY DENY ALLOW",
}
TOPIC = AclPattern(ResourceType.TOPIC, "orders", PatternType.LITERAL)
PREFIX = AclPattern(ResourceType.TOPIC, "ord", PatternType.PREFIXED)


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_are_those_of_the_protocol(kind: type[IntEnum]) -> None:
    assert {each.name: each.value for each in kind} == {
        name: number for number, name in enumerate(NUMBERS[kind].split())
    }


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
        (PatternType.MATCH, None, True, True),
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


RULE = Acl(
    resource_type=ResourceType.TOPIC,
    resource_name="orders",
    principal="User:anna",
    operation=Operation.READ,
    permission=Permission.DENY,
    host="10.0.0.1",
)
EXACT = AclFilter(
    resource_type=ResourceType.TOPIC,
    resource_name="orders",
    principal="User:anna",
    operation=Operation.READ,
    permission=Permission.DENY,
    host="10.0.0.1",
    pattern_type=PatternType.LITERAL,
)


@pytest.mark.parametrize(
    "other",
    [
        {"resource_type": ResourceType.GROUP},
        {"resource_name": "order"},
        {"principal": "User:ben"},
        {"operation": Operation.ALL},
        {"permission": Permission.ALLOW},
        {"host": "*"},
        {"pattern_type": PatternType.PREFIXED},
    ],
)
def test_a_rule_is_meant_only_if_every_part_of_it_is(other: dict[str, Any]) -> None:
    """Whatever is said of it must fit: else a delete would take rules that nobody named."""
    assert EXACT.matches(RULE)
    assert AclFilter().matches(RULE)
    assert not replace(EXACT, **other).matches(RULE)
    (name,) = other
    assert replace(EXACT, **{name: getattr(AclFilter(), name)}).matches(RULE)


def test_names_are_written_as_in_the_documentation() -> None:
    assert ResourceType.TRANSACTIONAL_ID.label == "TransactionalId"
    assert Operation.IDEMPOTENT_WRITE.label == "IdempotentWrite"
