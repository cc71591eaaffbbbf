"""DescribeTopicPartitions (key 75): show topics page by page (KIP-966)."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int16, Int32, Uuid


@struct
class TopicRequest:
    name: str


@struct
class Cursor:
    topic_name: str
    partition_index: Int32


@message(api_key=75, versions=range(0, 1), flexible_from=0)
class DescribeTopicPartitionsRequest:
    topics: list[TopicRequest]
    response_partition_limit: Int32 = 2000
    cursor: Cursor | None = None


@struct
class DescribeTopicPartitionsResponsePartition:
    error_code: Int16
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32 = -1
    replica_nodes: list[Int32]
    isr_nodes: list[Int32]
    eligible_leader_replicas: list[Int32] | None = None
    last_known_elr: list[Int32] | None = None
    offline_replicas: list[Int32]


@struct
class DescribeTopicPartitionsResponseTopic:
    error_code: Int16
    name: str | None
    topic_id: Uuid
    is_internal: bool = False
    partitions: list[DescribeTopicPartitionsResponsePartition]
    topic_authorized_operations: Int32 = -(2**31)


@message(api_key=75, versions=range(0, 1), flexible_from=0)
class DescribeTopicPartitionsResponse:
    throttle_time_ms: Int32
    topics: list[DescribeTopicPartitionsResponseTopic]
    next_cursor: Cursor | None = None
