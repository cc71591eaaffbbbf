"""ListGroups (key 16): the groups that this broker coordinates.

Version 1 reports the throttle time; in 2 the client waits it out (KIP-219); 3 is flexible; 4 shows
and filters by states (KIP-518); 5 by types (KIP-848).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from moldau.security.acls import Operation, ResourceType


async def handle(
    request: ListGroupsRequest, context: Context, broker: Broker
) -> ListGroupsResponse:
    states = {each.lower() async for each in context.each(request.states_filter)}
    types = {each.lower() async for each in context.each(request.types_filter)}
    error, overviews = broker.groups.overviews()
    may, sees_all = broker.authorizer.may, _sees_all(context, broker)
    listed = [
        ListedGroup(
            group_id=each.group_id,
            protocol_type=each.protocol_type,
            group_state=each.state,
            group_type=each.group_type,
        )
        async for each in context.each(overviews)
        if (not states or each.state.lower() in states)
        and (not types or each.group_type in types)
        and (
            sees_all
            or may(context, Operation.DESCRIBE, ResourceType.GROUP, each.group_id, log=False)
        )
    ]
    return ListGroupsResponse(error_code=error, groups=listed)


def _sees_all(context: Context, broker: Broker) -> bool:
    return broker.authorizer.may(context, Operation.DESCRIBE, ResourceType.CLUSTER, log=False)
