"""SyncGroup (key 14): hand out the assignments that the group's leader made."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32


@struct
class SyncGroupRequestAssignment:
    member_id: str
    assignment: bytes


@message(api_key=14, versions=range(0, 6), flexible_from=4)
class SyncGroupRequest:
    group_id: str
    generation_id: Int32
    member_id: str
    group_instance_id: str | None = since(3, default=None)
    protocol_type: str | None = since(5, default=None, ignorable=True)
    protocol_name: str | None = since(5, default=None, ignorable=True)
    assignments: list[SyncGroupRequestAssignment]


@message(api_key=14, versions=range(0, 6), flexible_from=4)
class SyncGroupResponse:
    throttle_time_ms: Int32 = since(1, default=0, ignorable=True)
    error_code: Int16
    protocol_type: str | None = since(5, default=None, ignorable=True)
    protocol_name: str | None = since(5, default=None, ignorable=True)
    assignment: bytes
