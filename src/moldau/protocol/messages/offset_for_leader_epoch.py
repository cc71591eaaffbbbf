"""OffsetForLeaderEpoch (key 23): find where a leader epoch ended (KIP-101, KIP-320)."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@struct
class OffsetForLeaderPartition:
    partition: Int32
    current_leader_epoch: Int32 = since(2, default=-1, ignorable=True)
    leader_epoch: Int32


@struct
class OffsetForLeaderTopic:
    topic: str
    partitions: list[OffsetForLeaderPartition]


@message(api_key=23, versions=range(0, 5), flexible_from=4)
class OffsetForLeaderEpochRequest:
    replica_id: Int32 = since(3, default=-2, ignorable=True)
    topics: list[OffsetForLeaderTopic]


@struct
class EpochEndOffset:
    error_code: Int16
    partition: Int32
    leader_epoch: Int32 = since(1, default=-1, ignorable=True)
    end_offset: Int64 = -1


@struct
class OffsetForLeaderTopicResult:
    topic: str
    partitions: list[EpochEndOffset]


@message(api_key=23, versions=range(0, 5), flexible_from=4)
class OffsetForLeaderEpochResponse:
    throttle_time_ms: Int32 = since(2, default=0, ignorable=True)
    topics: list[OffsetForLeaderTopicResult]
