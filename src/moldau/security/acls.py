"""Access rules: which principal may do what with which resource, as they travel on the wire."""

from dataclasses import dataclass
from enum import IntEnum

_UNKNOWN_OPERATIONS = -(2**31)


class ResourceType(IntEnum):
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


class Operation(IntEnum):
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


class Permission(IntEnum):
    """Whether a rule allows or denies."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


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


def operations_of(bits: int) -> frozenset[Operation] | None:
    """The operations whose bits are set; None if the broker was not asked."""
    if bits == _UNKNOWN_OPERATIONS:
        return None
    return frozenset(each for each in Operation if bits >> each & 1)
