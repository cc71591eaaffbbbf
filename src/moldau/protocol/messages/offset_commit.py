"""OffsetCommit (key 8): a group stores how far it has read."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@struct
class OffsetCommitRequestPartition:
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = since(6, default=-1, ignorable=True)
    commit_timestamp: Int64 = since(1, removed_in=2, default=-1)
    committed_metadata: str | None


@struct
class OffsetCommitRequestTopic:
    name: str
    partitions: list[OffsetCommitRequestPartition]


@message(api_key=8, versions=range(0, 10), flexible_from=8)
class OffsetCommitRequest:
    group_id: str
    generation_id_or_member_epoch: Int32 = since(1, default=-1, ignorable=True)
    member_id: str = since(1, default="", ignorable=True)
    group_instance_id: str | None = since(7, default=None)
    retention_time_ms: Int64 = since(2, removed_in=5, default=-1, ignorable=True)
    topics: list[OffsetCommitRequestTopic]


@struct
class OffsetCommitResponsePartition:
    partition_index: Int32
    error_code: Int16


@struct
class OffsetCommitResponseTopic:
    name: str
    partitions: list[OffsetCommitResponsePartition]


@message(api_key=8, versions=range(0, 10), flexible_from=8)
class OffsetCommitResponse:
    throttle_time_ms: Int32 = since(3, default=0, ignorable=True)
    topics: list[OffsetCommitResponseTopic]
