"""The operations a client may do, as the bit field that describing answers carry (KIP-430)."""

from moldau.broker.access.authorizer import Asking, Authorizer
from moldau.security.acls import CLUSTER_NAME, OPERATIONS, Operation, ResourceType


def operations_of(
    authorizer: Authorizer,
    asking: Asking,
    resource_type: ResourceType,
    name: str = CLUSTER_NAME,
) -> int:
    """What a client may do with a resource: bit n stands for operation n."""
    operations = OPERATIONS[resource_type]
    if authorizer.is_enforcing:
        operations = tuple(
            each
            for each in operations
            if authorizer.may(asking, each, resource_type, name, log=False)
        )
    return sum(1 << operation for operation in operations)


def operations_of_cluster(authorizer: Authorizer, asking: Asking) -> int:
    """What a client may do with the cluster; nothing if it may not describe that."""
    if not authorizer.may(asking, Operation.DESCRIBE, ResourceType.CLUSTER):
        return 0
    return operations_of(authorizer, asking, ResourceType.CLUSTER)
