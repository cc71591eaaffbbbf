"""The operations a client may do, as the bit field that describing answers carry.

Bit n stands for operation n of Kafka's ACLs. Without an authoriser everybody may do
everything that there is to do with a resource.
"""

READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE = 3, 4, 5, 6, 7, 8
CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE = 9, 10, 11, 12

_OPERATIONS = {
    "topic": (READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS),
    "group": (READ, DELETE, DESCRIBE),
    "cluster": (
        CREATE,
        ALTER,
        DESCRIBE,
        CLUSTER_ACTION,
        DESCRIBE_CONFIGS,
        ALTER_CONFIGS,
        IDEMPOTENT_WRITE,
    ),
}


def operations_of(resource: str) -> int:
    """All operations on a resource of this type, as bits."""
    return sum(1 << operation for operation in _OPERATIONS[resource])
