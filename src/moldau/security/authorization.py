"""Which principal may do what: access rules, and the decision that follows from them.

Rules belong to patterns: a name, the wildcard `*`, or a prefix of names (KIP-290). All patterns
that a resource's name fits have a say. A rule that denies counts more than any that allows.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

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
from moldau.security.hosts import java_address
from moldau.security.principals import Principal

# Who may do these things with a resource, may also describe it; denying does not imply anything.
_IMPLIED_BY = {
    Operation.DESCRIBE: (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER),
    Operation.DESCRIBE_CONFIGS: (Operation.ALTER_CONFIGS,),
}
_ALLOWED_BY = {
    operation: frozenset((operation, Operation.ALL, *_IMPLIED_BY.get(operation, ())))
    for operation in Operation
}


class Asker(NamedTuple):
    """Who asks, and from where."""

    principal: Principal
    name: str
    """The principal as rules write it."""
    address: str

    @classmethod
    def of(cls, principal: Principal, host: str) -> "Asker":
        """A principal at an address, however that is written."""
        return cls(principal, str(principal), java_address(host))


class Grant(NamedTuple):
    """A rule, apart from the pattern and the principal that it is for."""

    permission: Permission
    operation: Operation
    host: str
    """As it was written."""
    address: str
    """As it is compared."""


Grants = Mapping[str, tuple[Grant, ...]]
"""The rules of one pattern, by principal."""

# What stands in for rules that cannot be read: nobody but super users gets past it.
_UNREADABLE: Grants = {
    EVERYONE: (Grant(Permission.DENY, Operation.ALL, WILDCARD, WILDCARD),),
}


class AccessRules:
    """All rules of a cluster; changed pattern by pattern, each of which is replaced as a whole."""

    def __init__(
        self, super_users: Collection[Principal] = (), *, is_open_without_rules: bool = False
    ) -> None:
        """`is_open_without_rules` lets everyone use what no pattern is about."""
        self.version = object()
        """Another with every change: what was decided before is to be decided anew."""
        self._super_users = frozenset(super_users)
        self._is_open_without_rules = is_open_without_rules
        self._clear()

    def _clear(self) -> None:
        self._patterns: dict[AclPattern, Grants] = {}
        # How many prefixes of each length there are: only these are looked for.
        self._lengths: dict[ResourceType, Counter[int]] = {each: Counter() for each in ResourceType}
        self._of_principal: dict[str, dict[AclPattern, None]] = {}
        # The same few grants make up nearly all rules.
        self._grants: dict[tuple[Permission, Operation, str], Grant] = {}

    # Changes

    def put(self, pattern: AclPattern, rules: Iterable[Acl] | None) -> None:
        """Let a pattern have these rules and no others; None if they could not be read."""
        self.version = object()
        self._set(pattern, rules)

    def replace(self, patterns: Iterable[tuple[AclPattern, Iterable[Acl] | None]]) -> None:
        """Let there be these patterns and no others."""
        self.version = object()
        self._clear()
        for pattern, rules in patterns:
            self._set(pattern, rules)

    def _set(self, pattern: AclPattern, rules: Iterable[Acl] | None) -> None:
        grants = _UNREADABLE if rules is None else self._grants_of(rules)
        before = self._patterns.pop(pattern, None)
        is_prefix = pattern.type is PatternType.PREFIXED
        lengths = self._lengths[pattern.resource_type]
        if before is not None:
            self._forget(pattern, before)
            if is_prefix:
                lengths[len(pattern.name)] -= 1
                lengths += Counter()  # drops what there is none of
        if grants:
            self._patterns[pattern] = grants
            for principal in grants:
                self._of_principal.setdefault(principal, {})[pattern] = None
            if is_prefix:
                lengths[len(pattern.name)] += 1

    def _grants_of(self, rules: Iterable[Acl]) -> Grants:
        grants: dict[str, tuple[Grant, ...]] = {}
        for rule in rules:
            key = (rule.permission, rule.operation, rule.host)
            grant = self._grants.get(key)
            if grant is None:
                grant = self._grants[key] = Grant(*key, java_address(rule.host))
            grants[rule.principal] = (*grants.get(rule.principal, ()), grant)
        return grants

    def _forget(self, pattern: AclPattern, grants: Grants) -> None:
        for principal in grants:
            patterns = self._of_principal[principal]
            del patterns[pattern]
            if not patterns:
                del self._of_principal[principal]

    # Decisions

    def is_super(self, principal: Principal) -> bool:
        """Whether a principal may do everything."""
        return principal in self._super_users

    def allow(
        self, asker: Asker, operation: Operation, resource_type: ResourceType, name: str
    ) -> bool:
        """Whether someone may do something with a resource, whether that exists or not."""
        if asker.principal in self._super_users:
            return True
        is_allowed, is_ruled = False, False
        allowing = _ALLOWED_BY[operation]
        for grants in self._about(resource_type, name):
            is_ruled = True
            for grant in _grants_for(asker, grants):
                if grant.permission is Permission.DENY:
                    if grant.operation in (operation, Operation.ALL):
                        return False
                elif grant.operation in allowing:
                    is_allowed = True
        return is_allowed if is_ruled else self._is_open_without_rules

    def allow_any(self, asker: Asker, operation: Operation, resource_type: ResourceType) -> bool:
        """Whether there can be a resource of a type that someone may do something with (KIP-679).

        An operation is not implied by others here.
        """
        if asker.principal in self._super_users:
            return True
        denied, allowed = self._patterns_for(asker, operation, resource_type)
        if AclPattern(resource_type, WILDCARD) in denied:
            return False
        if self._is_open_without_rules:
            return True
        return any(
            _is_for_all(pattern)
            or not (
                pattern in denied or any(denied_one in denied for denied_one in _above(pattern))
            )
            for pattern in allowed
        )

    def _about(self, resource_type: ResourceType, name: str) -> Iterator[Grants]:
        """The rules of all patterns that a name fits."""
        patterns = self._patterns
        for literal in (WILDCARD, name):
            grants = patterns.get(AclPattern(resource_type, literal))
            if grants is not None:
                yield grants
            if name == WILDCARD:
                break
        for length in self._lengths[resource_type]:
            if length <= len(name):
                prefix = AclPattern(resource_type, name[:length], PatternType.PREFIXED)
                grants = patterns.get(prefix)
                if grants is not None:
                    yield grants

    def _patterns_for(
        self, asker: Asker, operation: Operation, resource_type: ResourceType
    ) -> tuple[set[AclPattern], list[AclPattern]]:
        """The patterns that deny someone an operation, and those that allow it."""
        denied, allowed = set(), []
        for principal in {asker.name: None, EVERYONE: None}:
            for pattern in self._of_principal.get(principal, ()):
                if pattern.resource_type is resource_type:
                    for grant in self._patterns[pattern][principal]:
                        if not _fits(grant, asker) or grant.operation not in (
                            operation,
                            Operation.ALL,
                        ):
                            continue
                        if grant.permission is Permission.DENY:
                            denied.add(pattern)
                        else:
                            allowed.append(pattern)
        return denied, allowed

    # Looking at rules

    def patterns(self, wanted: AclFilter) -> list[AclPattern]:
        """The patterns that a filter means: a list, since rules may change while it is used."""
        name, resource_type = wanted.resource_name, wanted.resource_type
        is_exact = wanted.pattern_type in (PatternType.LITERAL, PatternType.PREFIXED)
        if is_exact and name is not None and resource_type is not ResourceType.ANY:
            pattern = AclPattern(resource_type, name, wanted.pattern_type)
            return [pattern] if pattern in self._patterns else []
        return [pattern for pattern in self._patterns if wanted.means(pattern)]

    def of(self, pattern: AclPattern) -> list[Acl]:
        """The rules of a pattern as they were written; none if they could not be read."""
        grants = self._patterns.get(pattern)
        if grants is None or grants is _UNREADABLE:
            return []
        return [
            Acl(
                resource_type=pattern.resource_type,
                resource_name=pattern.name,
                pattern_type=pattern.type,
                principal=principal,
                operation=grant.operation,
                permission=grant.permission,
                host=grant.host,
            )
            for principal, of_principal in grants.items()
            for grant in of_principal
        ]

    def matching(self, wanted: AclFilter) -> Iterator[Acl]:
        """The rules that a filter means."""
        for pattern in self.patterns(wanted):
            for rule in self.of(pattern):
                if wanted.matches(rule):
                    yield rule

    def __len__(self) -> int:
        return sum(
            len(of_principal)
            for grants in self._patterns.values()
            for of_principal in grants.values()
        )


def _grants_for(asker: Asker, grants: Grants) -> Iterator[Grant]:
    for principal in (asker.name, EVERYONE):
        for grant in grants.get(principal, ()):
            if _fits(grant, asker):
                yield grant


def _fits(grant: Grant, asker: Asker) -> bool:
    return grant.address in (WILDCARD, asker.address)


def _is_for_all(pattern: AclPattern) -> bool:
    return pattern.name == WILDCARD and pattern.type is PatternType.LITERAL


def _above(pattern: AclPattern) -> Iterator[AclPattern]:
    """The prefixes that all resources of a pattern fit."""
    for length in range(1, len(pattern.name) + 1):
        yield AclPattern(pattern.resource_type, pattern.name[:length], PatternType.PREFIXED)
