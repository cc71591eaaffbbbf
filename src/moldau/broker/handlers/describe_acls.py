"""DescribeAcls (key 29): show access rules.

Version 1 adds pattern types, such as prefixes (KIP-290); 2 is flexible; 3 adds users as resources
(KIP-373).
"""

from moldau.broker.access.rule_messages import filter_of
from moldau.broker.access.rule_store import require_rules
from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from moldau.security.acls import Acl, Operation


async def handle(
    request: DescribeAclsRequest, context: Context, broker: Broker
) -> DescribeAclsResponse:
    broker.authorizer.require(context, Operation.DESCRIBE)
    message = "No Authorizer is configured on the broker"
    rules = require_rules(broker.access_rules, message).rules
    wanted = filter_of(request)
    resources = []
    async for pattern in context.each(rules.patterns(wanted)):
        found = [_described(acl) for acl in rules.of(pattern) if wanted.matches(acl)]
        if found:
            resources.append(
                DescribeAclsResource(
                    resource_type=pattern.resource_type,
                    resource_name=pattern.name,
                    pattern_type=pattern.type,
                    acls=found,
                )
            )
    return DescribeAclsResponse(
        throttle_time_ms=0, error_code=ErrorCode.NONE, error_message=None, resources=resources
    )


def _described(acl: Acl) -> AclDescription:
    return AclDescription(
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )
