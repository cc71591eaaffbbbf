"""ConsumerGroupHeartbeat (key 68): a member and its group reconcile their assignment (KIP-848).

In version 1 the member makes its own id (KIP-1082).
"""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32, Uuid


@struct
class TopicPartitions:
    topic_id: Uuid
    partitions: list[Int32]


@message(api_key=68, versions=range(0, 2), flexible_from=0)
class ConsumerGroupHeartbeatRequest:
    group_id: str
    member_id: str
    member_epoch: Int32
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: Int32 = -1
    subscribed_topic_names: list[str] | None = None
    subscribed_topic_regex: str | None = since(1, default=None)
    server_assignor: str | None = None
    topic_partitions: list[TopicPartitions] | None = None


@struct
class Assignment:
    topic_partitions: list[TopicPartitions]


@message(api_key=68, versions=range(0, 2), flexible_from=0)
class ConsumerGroupHeartbeatResponse:
    throttle_time_ms: Int32 = 0
    error_code: Int16
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: Int32
    heartbeat_interval_ms: Int32
    assignment: Assignment | None = None
