"""DeleteGroups (key 42): forget groups that have no members.

In version 1 the client waits out the throttle time (KIP-219); 2 is flexible.
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.errors import KafkaError
from moldau.protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from moldau.security.acls import Operation, ResourceType


async def handle(
    request: DeleteGroupsRequest, context: Context, broker: Broker
) -> DeleteGroupsResponse:
    results = []
    async for group_id in context.each(dict.fromkeys(request.groups_names)):
        try:
            broker.authorizer.require(context, Operation.DELETE, ResourceType.GROUP, group_id)
            code = await broker.groups.delete(group_id)
        except KafkaError as error:
            code = error.code
        results.append(DeletableGroupResult(group_id=group_id, error_code=code))
    return DeleteGroupsResponse(throttle_time_ms=0, results=results)


async def refuse(
    request: DeleteGroupsRequest, context: Context, error: KafkaError
) -> DeleteGroupsResponse:
    """The same error for every group."""
    results = [
        DeletableGroupResult(group_id=group_id, error_code=error.code)
        async for group_id in context.each(request.groups_names)
    ]
    return DeleteGroupsResponse(throttle_time_ms=0, results=results)
