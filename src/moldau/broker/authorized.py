"""The operations a client may do, as the bit field that describing answers carry.

Without an authoriser everybody may do everything that there is to do with a resource.
"""

from enum import IntEnum
from typing import Literal


class Operation(IntEnum):
    """What somebody may be allowed to do with a resource, numbered as in Kafka's ACLs."""

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


_OPERATIONS = {
    "topic": (
        Operation.READ,
        Operation.WRITE,
        Operation.CREATE,
        Operation.DELETE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
    ),
    "group": (Operation.READ, Operation.DELETE, Operation.DESCRIBE),
    "cluster": (
        Operation.CREATE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.CLUSTER_ACTION,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
        Operation.IDEMPOTENT_WRITE,
    ),
}


def operations_of(resource: Literal["topic", "group", "cluster"]) -> int:
    """All operations on a resource of this type: bit n stands for operation n."""
    return sum(1 << operation for operation in _OPERATIONS[resource])
