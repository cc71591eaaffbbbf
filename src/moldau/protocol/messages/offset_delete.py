"""OffsetDelete (key 47): forget a group's offsets of some partitions (KIP-496)."""

from moldau.protocol.declaration import message, struct
from moldau.protocol.primitives import Int16, Int32


@struct
class OffsetDeleteRequestPartition:
    partition_index: Int32


@struct
class OffsetDeleteRequestTopic:
    name: str
    partitions: list[OffsetDeleteRequestPartition]


@message(api_key=47, versions=range(0, 1), flexible_from=None)
class OffsetDeleteRequest:
    group_id: str
    topics: list[OffsetDeleteRequestTopic]


@struct
class OffsetDeleteResponsePartition:
    partition_index: Int32
    error_code: Int16


@struct
class OffsetDeleteResponseTopic:
    name: str
    partitions: list[OffsetDeleteResponsePartition]


@message(api_key=47, versions=range(0, 1), flexible_from=None)
class OffsetDeleteResponse:
    error_code: Int16
    throttle_time_ms: Int32
    topics: list[OffsetDeleteResponseTopic]
