"""FindCoordinator (key 10): find the broker that coordinates a group or a transaction.

Up to version 3 one key is asked for, from version 4 several.
"""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int8, Int16, Int32


@message(api_key=10, versions=range(0, 7), flexible_from=3)
class FindCoordinatorRequest:
    key: str = since(0, removed_in=4, default="")
    key_type: Int8 = since(1, default=0)
    coordinator_keys: list[str] = since(4, factory=list)


@struct
class Coordinator:
    key: str
    node_id: Int32
    host: str
    port: Int32
    error_code: Int16
    error_message: str | None


@message(api_key=10, versions=range(0, 7), flexible_from=3)
class FindCoordinatorResponse:
    throttle_time_ms: Int32 = since(1, default=0, ignorable=True)
    error_code: Int16 = since(0, removed_in=4, default=0)
    error_message: str | None = since(1, removed_in=4, default="", ignorable=True)
    node_id: Int32 = since(0, removed_in=4, default=0)
    host: str = since(0, removed_in=4, default="")
    port: Int32 = since(0, removed_in=4, default=0)
    coordinators: list[Coordinator] = since(4, factory=list)
