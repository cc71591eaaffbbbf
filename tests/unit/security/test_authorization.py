"""Decisions by access rules, compared with a plain model of what Kafka's documentation says."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.security.acls import (
    EVERYONE,
    WILDCARD,
    Acl,
    AclFilter,
    AclPattern,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from moldau.security.authorization import AccessRules, Asker
from moldau.security.principals import Principal

TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
READ, WRITE, DESCRIBE, ALL = Operation.READ, Operation.WRITE, Operation.DESCRIBE, Operation.ALL
ALICE, BOB = Principal("User", "alice"), Principal("User", "bob")


def rule(
    operation: Operation = READ,
    name: str = "t",
    permission: Permission = Permission.ALLOW,
    **others: object,
) -> Acl:
    given: dict[str, Any] = {"resource_type": TOPIC, "principal": "User:alice", **others}
    return Acl(operation=operation, resource_name=name, permission=permission, **given)


def deny(operation: Operation = READ, name: str = "t", **others: object) -> Acl:
    return rule(operation, name, Permission.DENY, **others)


def prefix(name: str, permission: Permission = Permission.ALLOW, **others: object) -> Acl:
    return rule(READ, name, permission, pattern_type=PatternType.PREFIXED, **others)


def rules_of(
    *acls: Acl, is_open: bool = False, super_users: Iterable[Principal] = ()
) -> AccessRules:
    rules = AccessRules(tuple(super_users), is_open_without_rules=is_open)
    patterns: dict[AclPattern, list[Acl]] = {}
    for acl in acls:
        patterns.setdefault(acl.pattern, []).append(acl)
    rules.replace(patterns.items())
    return rules


def allows(
    rules: AccessRules,
    operation: Operation = READ,
    name: str = "t",
    who: Principal = ALICE,
    host: str = "10.0.0.9",
) -> bool:
    return rules.allow(Asker.of(who, host), operation, TOPIC, name)


def test_what_nobody_allowed_is_not_allowed() -> None:
    assert not allows(rules_of())
    assert not allows(rules_of(rule(principal="User:bob")))
    assert not allows(rules_of(rule(resource_type=GROUP)))
    assert allows(rules_of(rule()))


def test_principals_are_compared_to_the_letter() -> None:
    assert not allows(rules_of(rule(principal="User:Alice")))
    assert not allows(rules_of(rule(principal="Group:alice")))
    assert allows(rules_of(rule(principal=EVERYONE)))


def test_a_denial_counts_more_than_what_is_allowed_wherever_it_stands() -> None:
    for denial in (deny(), deny(ALL), deny(name=WILDCARD), deny(principal=EVERYONE)):
        assert not allows(rules_of(rule(), denial))
        assert not allows(rules_of(denial, rule()))
    assert not allows(rules_of(rule(), prefix("t", Permission.DENY)))


def test_who_may_use_a_topic_may_describe_it() -> None:
    for operation in (READ, WRITE, Operation.DELETE, Operation.ALTER, ALL):
        assert allows(rules_of(rule(operation)), DESCRIBE)
    for operation in (Operation.CREATE, Operation.ALTER_CONFIGS):
        assert not allows(rules_of(rule(operation)), DESCRIBE)
    assert allows(rules_of(rule(Operation.ALTER_CONFIGS)), Operation.DESCRIBE_CONFIGS)
    assert not allows(rules_of(rule(DESCRIBE)), READ)


def test_a_denial_implies_nothing() -> None:
    assert allows(rules_of(rule(WRITE), deny(READ)), DESCRIBE)
    assert allows(rules_of(rule(READ), deny(DESCRIBE)), READ)
    assert not allows(rules_of(rule(READ), deny(DESCRIBE)), DESCRIBE)


def test_a_prefix_stands_for_all_names_that_begin_with_it() -> None:
    rules = rules_of(prefix("or"))
    assert allows(rules, name="or")
    assert allows(rules, name="orders")
    assert not allows(rules, name="o")
    assert not allows(rules, name="for")


def test_the_wildcard_stands_for_all_names_as_a_literal_only() -> None:
    assert allows(rules_of(rule(name=WILDCARD)), name="x")
    assert not allows(rules_of(prefix(WILDCARD)), name="x")
    assert allows(rules_of(prefix(WILDCARD)), name="*x")
    assert not allows(rules_of(rule()), name=WILDCARD)


def test_hosts_are_addresses_however_they_are_written() -> None:
    assert not allows(rules_of(rule(host="10.0.0.8")))
    assert allows(rules_of(rule(host="0:0:0:0:0:0:0:1")), host="::1")
    assert allows(rules_of(rule(host="10.0.0.9")), host="::ffff:10.0.0.9")
    assert not allows(rules_of(rule(host="10.0.0.0/8")))


def test_super_users_may_do_everything() -> None:
    rules = rules_of(deny(ALL, WILDCARD, principal=EVERYONE), super_users=[ALICE])
    assert allows(rules)
    assert rules.is_super(ALICE)
    assert not allows(rules, who=BOB)


def test_where_there_are_no_rules_everyone_may_if_a_setting_says_so() -> None:
    assert allows(rules_of(is_open=True))
    assert allows(rules_of(rule(name="other"), is_open=True))
    # Rules for others, or for other operations, are rules.
    assert not allows(rules_of(rule(WRITE, principal="User:bob"), is_open=True))
    assert not allows(rules_of(prefix("", principal="User:bob"), is_open=True))


def test_someone_called_like_the_wildcard_has_the_rights_of_everyone_and_no_more() -> None:
    star = Principal("User", "*")
    assert not allows(rules_of(rule()), who=star)
    assert allows(rules_of(rule(principal=EVERYONE)), who=star)
    assert not allows(rules_of(super_users=[ALICE]), who=star)


def test_rules_that_cannot_be_read_keep_everyone_out() -> None:
    rules = rules_of(rule(), super_users=[BOB])
    rules.put(AclPattern(TOPIC, "t"), None)
    assert not allows(rules)
    assert allows(rules, who=BOB)
    assert list(rules.matching(AclFilter())) == []
    rules.put(AclPattern(TOPIC, "t"), [rule()])
    assert allows(rules)


def test_a_pattern_is_replaced_as_a_whole_and_the_version_moves() -> None:
    rules = rules_of(rule(), prefix("t", principal="User:bob"))
    before = rules.version
    rules.put(AclPattern(TOPIC, "t"), [])
    assert rules.version is not before
    assert not allows(rules)
    assert allows(rules, who=BOB, name="tt")
    rules.put(AclPattern(TOPIC, "t", PatternType.PREFIXED), [])
    assert not allows(rules, who=BOB, name="tt")
    assert len(rules) == 0


def test_cve_2024_27309_one_of_three_rules_is_removed_and_the_others_hold() -> None:
    """CVE-2024-27309: with two left, a denial among them was forgotten."""
    rules = rules_of(rule(), deny(principal="User:bob"), rule(principal=EVERYONE))
    rules.put(AclPattern(TOPIC, "t"), [deny(principal="User:bob"), rule(principal=EVERYONE)])
    assert allows(rules)
    assert not allows(rules, who=BOB)


# Any resource of a type


def allows_any(rules: AccessRules, operation: Operation = READ) -> bool:
    return rules.allow_any(Asker.of(ALICE, "10.0.0.9"), operation, TOPIC)


def test_any_topic_will_do() -> None:
    assert not allows_any(rules_of())
    assert allows_any(rules_of(rule()))
    assert allows_any(rules_of(prefix("t")))
    assert allows_any(rules_of(rule(name=WILDCARD)))
    assert allows_any(rules_of(super_users=[ALICE]))
    assert not allows_any(rules_of(rule(principal="User:bob")))


def test_what_is_implied_does_not_count_for_any() -> None:
    assert not allows_any(rules_of(rule(READ)), DESCRIBE)
    assert allows_any(rules_of(rule(ALL)), DESCRIBE)


def test_a_denial_of_all_topics_leaves_none() -> None:
    assert not allows_any(rules_of(rule(), deny(name=WILDCARD)))
    assert not allows_any(rules_of(deny(name=WILDCARD), is_open=True))
    assert allows_any(rules_of(deny(), is_open=True))


def test_a_denied_prefix_takes_what_lies_below_it() -> None:
    assert not allows_any(rules_of(rule(name="tt"), prefix("t", Permission.DENY)))
    assert not allows_any(rules_of(prefix("tt"), prefix("t", Permission.DENY)))
    assert allows_any(rules_of(prefix("t"), prefix("tt", Permission.DENY)))
    assert allows_any(rules_of(rule(name=WILDCARD), prefix("t", Permission.DENY)))
    assert not allows_any(rules_of(rule(), deny()))
    assert allows_any(rules_of(prefix("t"), deny()))


# Filters


def test_a_filter_by_match_means_all_rules_that_a_name_is_under() -> None:
    rules = rules_of(rule(), rule(name=WILDCARD), prefix("t"), rule(name="u"), prefix("tt"))
    found = {
        (each.resource_name, each.pattern_type)
        for each in rules.matching(
            AclFilter(resource_type=TOPIC, resource_name="t", pattern_type=PatternType.MATCH)
        )
    }
    literal, prefixed = PatternType.LITERAL, PatternType.PREFIXED
    assert found == {("t", literal), (WILDCARD, literal), ("t", prefixed)}


def test_a_filter_by_any_pattern_means_equal_names() -> None:
    rules = rules_of(rule(), rule(name=WILDCARD), prefix("t"))
    wanted = AclFilter(resource_type=TOPIC, resource_name="t", pattern_type=PatternType.ANY)
    assert len(list(rules.matching(wanted))) == 2


def test_hosts_and_principals_of_a_filter_are_texts() -> None:
    rules = rules_of(rule(host="::1"), rule(host=WILDCARD))
    assert len(list(rules.matching(AclFilter(host="::1")))) == 1
    assert list(rules.matching(AclFilter(host="0:0:0:0:0:0:0:1"))) == []
    assert len(list(rules.matching(AclFilter(host=WILDCARD)))) == 1
    assert len(list(rules.matching(AclFilter(principal="User:alice")))) == 2
    assert list(rules.matching(AclFilter(principal=EVERYONE))) == []


# Against a model

NAMES = st.sampled_from(["a", "ab", "abc", "b", WILDCARD])
HOSTS = st.sampled_from(["10.0.0.1", "::1", "0:0:0:0:0:0:0:1", WILDCARD])
PRINCIPALS = st.sampled_from(["User:alice", "User:bob", EVERYONE])
OPERATIONS = st.sampled_from([READ, WRITE, DESCRIBE, ALL, Operation.ALTER_CONFIGS])
ACLS = st.builds(
    Acl,
    resource_type=st.sampled_from([TOPIC, GROUP]),
    resource_name=NAMES,
    pattern_type=st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
    principal=PRINCIPALS,
    operation=OPERATIONS,
    permission=st.sampled_from([Permission.ALLOW, Permission.DENY]),
    host=HOSTS,
)
IMPLYING = {
    DESCRIBE: {READ, WRITE, Operation.DELETE, Operation.ALTER},
    Operation.DESCRIBE_CONFIGS: {Operation.ALTER_CONFIGS},
}


def is_about(acl: Acl, resource_type: ResourceType, name: str) -> bool:
    if acl.resource_type is not resource_type:
        return False
    if acl.pattern_type is PatternType.PREFIXED:
        return name.startswith(acl.resource_name)
    return acl.resource_name in (name, WILDCARD)


def is_for(acl: Acl, principal: str, hosts: set[str]) -> bool:
    return acl.principal in (principal, EVERYONE) and acl.host in hosts | {WILDCARD}


def model(acls: list[Acl], operation: Operation, name: str, *, is_open: bool) -> bool:
    """The rules of the documentation, one after the other, for Alice at ::1."""
    about = [acl for acl in acls if is_about(acl, TOPIC, name)]
    if not about:
        return is_open
    of_alice = [acl for acl in about if is_for(acl, "User:alice", {"::1", "0:0:0:0:0:0:0:1"})]
    if any(
        acl.permission is Permission.DENY and acl.operation in (operation, ALL) for acl in of_alice
    ):
        return False
    allowing = {operation, ALL} | IMPLYING.get(operation, set())
    return any(acl.permission is Permission.ALLOW and acl.operation in allowing for acl in of_alice)


@settings(max_examples=500, deadline=None)
@given(
    st.lists(ACLS, max_size=6),
    st.sampled_from([READ, WRITE, DESCRIBE, Operation.DESCRIBE_CONFIGS]),
    st.sampled_from(["a", "ab", "abcd", "b", "c", WILDCARD]),
    st.booleans(),
)
def test_decisions_are_those_of_the_model(
    acls: list[Acl], operation: Operation, name: str, is_open: bool
) -> None:
    rules = rules_of(*acls, is_open=is_open)
    assert allows(rules, operation, name, host="::1") == model(
        acls, operation, name, is_open=is_open
    )


@settings(max_examples=300, deadline=None)
@given(st.lists(ACLS, max_size=6), st.sampled_from([READ, WRITE]))
def test_any_means_that_some_name_is_allowed(acls: list[Acl], operation: Operation) -> None:
    """Of names that rules are about, and of new names below prefixes; but for the wildcard.

    A literal wildcard that allows counts at once, whatever prefixes deny.
    """
    rules = rules_of(*acls)
    strict = [acl for acl in acls if acl.operation in (operation, ALL)]
    names = {acl.resource_name for acl in acls} | {f"{acl.resource_name}~" for acl in acls}
    names.discard(WILDCARD)
    expected = any(model(strict, operation, name, is_open=False) for name in names | {"~"})
    if rules.allow_any(Asker.of(ALICE, "::1"), operation, TOPIC) != expected:
        wildcard = [acl for acl in strict if acl.resource_name == WILDCARD]
        assert wildcard, acls


@settings(max_examples=200, deadline=None)
@given(
    st.lists(ACLS, max_size=8, unique=True),
    st.builds(
        AclFilter,
        resource_type=st.sampled_from([TOPIC, ResourceType.ANY]),
        resource_name=st.none() | NAMES,
        pattern_type=st.sampled_from(
            [PatternType.ANY, PatternType.MATCH, PatternType.LITERAL, PatternType.PREFIXED]
        ),
        principal=st.none() | PRINCIPALS,
        host=st.none() | HOSTS,
    ),
)
def test_a_filter_finds_what_a_look_at_every_rule_finds(acls: list[Acl], wanted: AclFilter) -> None:
    rules = rules_of(*acls)
    found = sorted(map(repr, rules.matching(wanted)))
    assert found == sorted(repr(acl) for acl in acls if wanted.matches(acl))


@pytest.mark.parametrize("count", [1, 40])
def test_rules_come_and_go_in_any_order(count: int) -> None:
    rules = rules_of()
    patterns = [AclPattern(TOPIC, "p" * n, PatternType.PREFIXED) for n in range(1, count + 1)]
    for pattern in patterns:
        rules.put(pattern, [prefix(pattern.name)])
    assert len(rules) == count
    for pattern in patterns:
        assert allows(rules, name="p" * count)
        rules.put(pattern, None if len(pattern.name) < 0 else [])
    assert not allows(rules, name="p" * count)


def test_nobody_may_do_anything_until_something_says_so() -> None:
    assert not allows(AccessRules())


def test_rules_that_are_replaced_are_gone() -> None:
    rules = rules_of(rule(), prefix("u"), is_open=False)
    assert allows(rules)
    rules.replace([])
    assert not allows(rules)
    assert len(rules) == 0
    assert not rules.allow_any(Asker.of(ALICE, "10.0.0.1"), READ, TOPIC)


def test_a_right_to_all_resources_stands_whatever_prefix_is_denied() -> None:
    """As in Kafka, where the wildcard counts at once (KIP-679)."""
    rules = rules_of(rule(name=WILDCARD), prefix(WILDCARD, Permission.DENY))
    assert rules.allow_any(Asker.of(ALICE, "10.0.0.1"), READ, TOPIC)
