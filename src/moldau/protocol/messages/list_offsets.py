"""ListOffsets (key 2): find offsets by timestamp, or the ends of a log.

Version 0 asks for up to `max_num_offsets` offsets, later versions for one.
"""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int8, Int16, Int32, Int64


@struct
class ListOffsetsPartition:
    partition_index: Int32
    current_leader_epoch: Int32 = since(4, default=-1, ignorable=True)
    # -1: the end, -2: the start, -3: the greatest timestamp (version 7, KIP-734).
    timestamp: Int64
    max_num_offsets: Int32 = since(0, removed_in=1, default=1)


@struct
class ListOffsetsTopic:
    name: str
    partitions: list[ListOffsetsPartition]


@message(api_key=2, versions=range(0, 10), flexible_from=6)
class ListOffsetsRequest:
    replica_id: Int32
    isolation_level: Int8 = since(2, default=0)
    topics: list[ListOffsetsTopic]


@struct
class ListOffsetsPartitionResponse:
    partition_index: Int32
    error_code: Int16
    old_style_offsets: list[Int64] = since(0, removed_in=1, factory=list)
    timestamp: Int64 = since(1, default=-1)
    offset: Int64 = since(1, default=-1)
    leader_epoch: Int32 = since(4, default=-1)


@struct
class ListOffsetsTopicResponse:
    name: str
    partitions: list[ListOffsetsPartitionResponse]


@message(api_key=2, versions=range(0, 10), flexible_from=6)
class ListOffsetsResponse:
    throttle_time_ms: Int32 = since(2, default=0, ignorable=True)
    topics: list[ListOffsetsTopicResponse]
