"""ConsumerGroupDescribe (key 69): show groups of the KIP-848 protocol."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int8, Int16, Int32, Uuid


@message(api_key=69, versions=range(0, 2), flexible_from=0)
class ConsumerGroupDescribeRequest:
    group_ids: list[str]
    include_authorized_operations: bool


@struct
class TopicPartitions:
    topic_id: Uuid
    topic_name: str
    partitions: list[Int32]


@struct
class Assignment:
    topic_partitions: list[TopicPartitions]


@struct
class Member:
    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    member_epoch: Int32
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None = None
    assignment: Assignment
    target_assignment: Assignment
    member_type: Int8 = since(1, default=-1, ignorable=True)


@struct
class DescribedGroup:
    error_code: Int16
    error_message: str | None = None
    group_id: str
    group_state: str
    group_epoch: Int32
    assignment_epoch: Int32
    assignor_name: str
    members: list[Member]
    authorized_operations: Int32 = -(2**31)


@message(api_key=69, versions=range(0, 2), flexible_from=0)
class ConsumerGroupDescribeResponse:
    throttle_time_ms: Int32 = 0
    groups: list[DescribedGroup]
