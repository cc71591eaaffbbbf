"""Access rules: which principal may do what with which resource, as they travel on the wire."""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

WILDCARD = "*"
"""As a pattern's name it stands for all names, as a host for all addresses."""
EVERYONE = "User:*"
CLUSTER_NAME = "kafka-cluster"
"""The one resource of type CLUSTER."""

_UNKNOWN_OPERATIONS = -(2**31)


class _Labelled(IntEnum):
    @property
    def label(self) -> str:
        """As nodes, logs and documentation write it: TRANSACTIONAL_ID is TransactionalId."""
        return "".join(word.capitalize() for word in self.name.split("_"))


class ResourceType(_Labelled):
    """What a rule is about."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(IntEnum):
    """How a rule's name stands for resources."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Operation(_Labelled):
    """What a principal does."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14


OPERATIONS = {
    ResourceType.TOPIC: (
        Operation.READ,
        Operation.WRITE,
        Operation.CREATE,
        Operation.DELETE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
    ),
    ResourceType.GROUP: (Operation.READ, Operation.DELETE, Operation.DESCRIBE),
    ResourceType.CLUSTER: (
        Operation.CREATE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.CLUSTER_ACTION,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
        Operation.IDEMPOTENT_WRITE,
    ),
    ResourceType.TRANSACTIONAL_ID: (Operation.WRITE, Operation.DESCRIBE),
    ResourceType.DELEGATION_TOKEN: (Operation.DESCRIBE,),
    ResourceType.USER: (Operation.CREATE_TOKENS, Operation.DESCRIBE_TOKENS),
}
"""What there is to do with a resource of each type."""

PRODUCER_NEEDS = {
    ResourceType.TOPIC: (Operation.WRITE, Operation.DESCRIBE, Operation.CREATE),
    ResourceType.TRANSACTIONAL_ID: (Operation.WRITE, Operation.DESCRIBE),
    ResourceType.CLUSTER: (Operation.IDEMPOTENT_WRITE,),
}
"""What `kafka-acls.sh --producer` allows."""
CONSUMER_NEEDS = {
    ResourceType.TOPIC: (Operation.READ, Operation.DESCRIBE),
    ResourceType.GROUP: (Operation.READ,),
}
"""What `kafka-acls.sh --consumer` allows."""


class Permission(_Labelled):
    """Whether a rule allows or denies."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


class AclPattern(NamedTuple):
    """Which resources a rule is about: one by its name, or all whose names begin with it."""

    resource_type: ResourceType
    name: str
    type: PatternType = PatternType.LITERAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Acl:
    """One rule; `*` as name, principal's name or host stands for all."""

    resource_type: ResourceType
    resource_name: str
    principal: str
    operation: Operation
    permission: Permission = Permission.ALLOW
    host: str = "*"
    pattern_type: PatternType = PatternType.LITERAL

    @property
    def pattern(self) -> AclPattern:
        """What it is about."""
        return AclPattern(self.resource_type, self.resource_name, self.pattern_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class AclFilter:
    """Which rules are meant; what is not said matches everything."""

    resource_type: ResourceType = ResourceType.ANY
    resource_name: str | None = None
    principal: str | None = None
    operation: Operation = Operation.ANY
    permission: Permission = Permission.ANY
    host: str | None = None
    pattern_type: PatternType = PatternType.ANY

    def means(self, pattern: AclPattern) -> bool:
        """Whether rules of a pattern are meant, as far as the pattern says it (KIP-290)."""
        if self.resource_type not in (ResourceType.ANY, pattern.resource_type):
            return False
        if self.pattern_type is PatternType.MATCH and self.resource_name is not None:
            if pattern.type is PatternType.PREFIXED:
                return self.resource_name.startswith(pattern.name)
            return pattern.name in (self.resource_name, WILDCARD)
        is_type = self.pattern_type in (PatternType.ANY, PatternType.MATCH, pattern.type)
        return is_type and self.resource_name in (None, pattern.name)

    def matches(self, acl: Acl) -> bool:
        """Whether a rule is meant; principals and hosts are compared as they are written."""
        return (
            self.means(acl.pattern)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
        )


def operations_of(bits: int) -> frozenset[Operation] | None:
    """The operations whose bits are set; None if the broker was not asked."""
    if bits == _UNKNOWN_OPERATIONS:
        return None
    return frozenset(each for each in Operation if bits >> each & 1)
