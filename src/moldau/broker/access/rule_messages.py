"""Access rules and filters as requests have them, checked."""

from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.create_acls import AclCreation
from moldau.protocol.messages.delete_acls import DeleteAclsFilter
from moldau.protocol.messages.describe_acls import DescribeAclsRequest
from moldau.security.acls import (
    CLUSTER_NAME,
    Acl,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from moldau.security.principals import Principal

# What ZooKeeper refuses in the name of a node; of brokers' own stores, all take the same.
_FORBIDDEN = (
    *(range(0x20), range(0x7F, 0xA0), range(0xD800, 0xF900), range(0xFFF0, 0x10000)),
    range(ord("/"), ord("/") + 1),
)


def acl_of(creation: AclCreation) -> Acl:
    """The rule that a request wants; raises INVALID_REQUEST."""
    name = creation.resource_name
    try:
        acl = Acl(
            resource_type=ResourceType(creation.resource_type),
            resource_name=name,
            pattern_type=PatternType(creation.resource_pattern_type),
            principal=creation.principal,
            host=creation.host,
            operation=Operation(creation.operation),
            permission=Permission(creation.permission_type),
        )
        Principal.parse(creation.principal)
    except ValueError as error:
        raise _failed() from error
    if acl.resource_type is ResourceType.CLUSTER and name != CLUSTER_NAME:
        message = f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Invalid empty resource name")
    if (
        acl.resource_type <= ResourceType.ANY
        or acl.pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED)
        or acl.operation <= Operation.ANY
        or acl.permission <= Permission.ANY
        or not creation.host
    ):
        raise _failed()
    return acl


def require_storable(acl: Acl) -> None:
    """Raise unless a rule can be kept in the tree: its name is that of a node."""
    name = acl.resource_name
    if name in (".", "..") or any(ord(each) in some for each in name for some in _FORBIDDEN):
        raise _failed()


def filter_of(asked: DescribeAclsRequest | DeleteAclsFilter) -> AclFilter:
    """The filter that a request has; raises INVALID_REQUEST."""
    try:
        wanted = AclFilter(
            resource_type=ResourceType(asked.resource_type_filter),
            resource_name=asked.resource_name_filter,
            pattern_type=PatternType(asked.pattern_type_filter),
            principal=asked.principal_filter,
            host=asked.host_filter,
            operation=Operation(asked.operation),
            permission=Permission(asked.permission_type),
        )
        known = (wanted.resource_type, wanted.pattern_type, wanted.operation, wanted.permission)
        is_known = all(known)  # UNKNOWN is 0
    except ValueError:
        is_known = False
    if not is_known:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "The filter has parts that are not known")
    return wanted


def _failed() -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, "Failed to create ACL")
