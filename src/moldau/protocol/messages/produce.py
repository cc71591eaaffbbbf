"""Produce (key 0): append record batches to partitions.

There is no response at all if `acks` is 0.
"""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32, Int64, Records


@struct
class PartitionProduceData:
    index: Int32
    records: Records | None


@struct
class TopicProduceData:
    name: str
    partition_data: list[PartitionProduceData]


@message(api_key=0, versions=range(0, 12), flexible_from=9)
class ProduceRequest:
    transactional_id: str | None = since(3, default=None)
    # -1: all in-sync replicas; 0: no answer; 1: the leader alone.
    acks: Int16
    timeout_ms: Int32
    topic_data: list[TopicProduceData]


@struct
class BatchIndexAndErrorMessage:
    batch_index: Int32
    batch_index_error_message: str | None = None


@struct
class LeaderIdAndEpoch:
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


@struct
class PartitionProduceResponse:
    index: Int32
    error_code: Int16
    base_offset: Int64
    log_append_time_ms: Int64 = since(2, default=-1, ignorable=True)
    log_start_offset: Int64 = since(5, default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = since(8, factory=list, ignorable=True)
    error_message: str | None = since(8, default=None, ignorable=True)
    current_leader: LeaderIdAndEpoch | None = since(10, tag=0, default=None)


@struct
class TopicProduceResponse:
    name: str
    partition_responses: list[PartitionProduceResponse]


@struct
class NodeEndpoint:
    node_id: Int32
    host: str
    port: Int32
    rack: str | None = None


@message(api_key=0, versions=range(0, 12), flexible_from=9)
class ProduceResponse:
    responses: list[TopicProduceResponse]
    # Comes after the topics here, unlike in nearly every other response.
    throttle_time_ms: Int32 = since(1, default=0, ignorable=True)
    node_endpoints: list[NodeEndpoint] = since(10, tag=0, factory=list)
