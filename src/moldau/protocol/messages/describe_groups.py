"""DescribeGroups (key 15): show groups with their members."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32


@message(api_key=15, versions=range(0, 6), flexible_from=5)
class DescribeGroupsRequest:
    groups: list[str]
    include_authorized_operations: bool = since(3, default=False)


@struct
class DescribedGroupMember:
    member_id: str
    group_instance_id: str | None = since(4, default=None, ignorable=True)
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes


@struct
class DescribedGroup:
    error_code: Int16
    group_id: str
    group_state: str
    protocol_type: str
    protocol_data: str
    members: list[DescribedGroupMember]
    authorized_operations: Int32 = since(3, default=-(2**31))


@message(api_key=15, versions=range(0, 6), flexible_from=5)
class DescribeGroupsResponse:
    throttle_time_ms: Int32 = since(1, default=0, ignorable=True)
    groups: list[DescribedGroup]
