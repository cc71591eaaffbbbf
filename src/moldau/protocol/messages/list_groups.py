"""ListGroups (key 16): list the groups that a broker coordinates."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32


@message(api_key=16, versions=range(0, 6), flexible_from=3)
class ListGroupsRequest:
    states_filter: list[str] = since(4, factory=list)
    types_filter: list[str] = since(5, factory=list)


@struct
class ListedGroup:
    group_id: str
    protocol_type: str
    group_state: str = since(4, default="", ignorable=True)
    group_type: str = since(5, default="", ignorable=True)


@message(api_key=16, versions=range(0, 6), flexible_from=3)
class ListGroupsResponse:
    throttle_time_ms: Int32 = since(1, default=0, ignorable=True)
    error_code: Int16
    groups: list[ListedGroup]
