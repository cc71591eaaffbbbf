"""LeaveGroup (key 13): members leave their group.

Up to version 2 one member leaves, from version 3 several.
"""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32


@struct
class MemberIdentity:
    member_id: str
    group_instance_id: str | None = None
    reason: str | None = since(5, default=None, ignorable=True)


@message(api_key=13, versions=range(0, 6), flexible_from=4)
class LeaveGroupRequest:
    group_id: str
    member_id: str = since(0, removed_in=3, default="")
    members: list[MemberIdentity] = since(3, factory=list)


@struct
class MemberResponse:
    member_id: str
    group_instance_id: str | None
    error_code: Int16


@message(api_key=13, versions=range(0, 6), flexible_from=4)
class LeaveGroupResponse:
    throttle_time_ms: Int32 = since(1, default=0, ignorable=True)
    error_code: Int16
    members: list[MemberResponse] = since(3, factory=list)
