"""Heartbeat (key 12): a member says it is alive."""

from moldau.protocol.declaration import message, since
from moldau.protocol.primitives import Int16, Int32


@message(api_key=12, versions=range(0, 5), flexible_from=4)
class HeartbeatRequest:
    group_id: str
    generation_id: Int32
    member_id: str
    group_instance_id: str | None = since(3, default=None)


@message(api_key=12, versions=range(0, 5), flexible_from=4)
class HeartbeatResponse:
    throttle_time_ms: Int32 = since(1, default=0, ignorable=True)
    error_code: Int16
