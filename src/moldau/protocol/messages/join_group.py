"""JoinGroup (key 11): a member enters the next generation of its group."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32


@struct
class JoinGroupRequestProtocol:
    name: str
    metadata: bytes


@message(api_key=11, versions=range(0, 10), flexible_from=6)
class JoinGroupRequest:
    group_id: str
    session_timeout_ms: Int32
    rebalance_timeout_ms: Int32 = since(1, default=-1, ignorable=True)
    member_id: str
    group_instance_id: str | None = since(5, default=None)
    protocol_type: str
    protocols: list[JoinGroupRequestProtocol]
    reason: str | None = since(8, default=None, ignorable=True)


@struct
class JoinGroupResponseMember:
    member_id: str
    group_instance_id: str | None = since(5, default=None, ignorable=True)
    metadata: bytes


@message(api_key=11, versions=range(0, 10), flexible_from=6)
class JoinGroupResponse:
    throttle_time_ms: Int32 = since(2, default=0, ignorable=True)
    error_code: Int16
    generation_id: Int32 = -1
    protocol_type: str | None = since(7, default=None, ignorable=True)
    protocol_name: str | None = since(0, nullable_from=7)
    leader: str
    skip_assignment: bool = since(9, default=False)
    member_id: str
    members: list[JoinGroupResponseMember]
