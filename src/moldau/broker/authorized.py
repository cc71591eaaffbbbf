"""The operations a client may do, as the bit field that describing answers carry.

Without an authoriser every client may do everything that there is to do with a resource.
"""

from typing import Literal

from moldau.security.acls import Operation

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
