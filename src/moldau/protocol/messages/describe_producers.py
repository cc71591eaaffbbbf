"""DescribeProducers (key 61): show the producers that are active on partitions (KIP-664)."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@struct
class TopicRequest:
    name: str
    partition_indexes: list[Int32]


@message(api_key=61, versions=range(0, 1), flexible_from=0)
class DescribeProducersRequest:
    topics: list[TopicRequest]


@struct
class ProducerState:
    producer_id: Int64
    producer_epoch: Int32
    last_sequence: Int32 = -1
    last_timestamp: Int64 = -1
    coordinator_epoch: Int32
    current_txn_start_offset: Int64 = -1


@struct
class PartitionResponse:
    partition_index: Int32
    error_code: Int16
    error_message: str | None = None
    active_producers: list[ProducerState]


@struct
class TopicResponse:
    name: str
    partitions: list[PartitionResponse]


@message(api_key=61, versions=range(0, 1), flexible_from=0)
class DescribeProducersResponse:
    throttle_time_ms: Int32
    topics: list[TopicResponse]
