"""DeleteRecords (key 21): move the start of partitions forward."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@struct
class DeleteRecordsPartition:
    partition_index: Int32
    offset: Int64


@struct
class DeleteRecordsTopic:
    name: str
    partitions: list[DeleteRecordsPartition]


@message(api_key=21, versions=range(0, 3), flexible_from=2)
class DeleteRecordsRequest:
    topics: list[DeleteRecordsTopic]
    timeout_ms: Int32


@struct
class DeleteRecordsPartitionResult:
    partition_index: Int32
    low_watermark: Int64
    error_code: Int16


@struct
class DeleteRecordsTopicResult:
    name: str
    partitions: list[DeleteRecordsPartitionResult]


@message(api_key=21, versions=range(0, 3), flexible_from=2)
class DeleteRecordsResponse:
    throttle_time_ms: Int32
    topics: list[DeleteRecordsTopicResult]
