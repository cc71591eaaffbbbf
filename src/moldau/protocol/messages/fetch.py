"""Fetch (key 1): read record batches, as a consumer or as a follower."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import NO_UUID, Int8, Int16, Int32, Int64, RecordsSource, Uuid


@struct
class ReplicaState:
    # Replaces the request's own replica_id from version 15 on.
    replica_id: Int32 = -1
    replica_epoch: Int64 = -1


@struct
class FetchPartition:
    partition: Int32
    current_leader_epoch: Int32 = since(9, default=-1, ignorable=True)
    fetch_offset: Int64
    last_fetched_epoch: Int32 = since(12, default=-1)
    log_start_offset: Int64 = since(5, default=-1, ignorable=True)
    partition_max_bytes: Int32
    replica_directory_id: Uuid = since(17, tag=0, default=NO_UUID, ignorable=True)


@struct
class FetchTopic:
    topic: str = since(0, removed_in=13, default="", ignorable=True)
    topic_id: Uuid = since(13, default=NO_UUID, ignorable=True)
    partitions: list[FetchPartition]


@struct
class ForgottenTopic:
    topic: str = since(0, removed_in=13, default="", ignorable=True)
    topic_id: Uuid = since(13, default=NO_UUID, ignorable=True)
    partitions: list[Int32]


@message(api_key=1, versions=range(0, 18), flexible_from=12)
class FetchRequest:
    cluster_id: str | None = since(12, tag=0, default=None, ignorable=True)
    # A broker's id marks the request as a follower's; -1 is a consumer.
    replica_id: Int32 = since(0, removed_in=15, default=-1)
    replica_state: ReplicaState | None = since(15, tag=1, default=None)
    max_wait_ms: Int32
    min_bytes: Int32
    max_bytes: Int32 = since(3, default=2**31 - 1, ignorable=True)
    isolation_level: Int8 = since(4, default=0, ignorable=True)
    session_id: Int32 = since(7, default=0, ignorable=True)
    session_epoch: Int32 = since(7, default=-1, ignorable=True)
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic] = since(7, factory=list)
    rack_id: str = since(11, default="", ignorable=True)


@struct
class EpochEndOffset:
    epoch: Int32 = -1
    end_offset: Int64 = -1


@struct
class LeaderIdAndEpoch:
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


@struct
class SnapshotId:
    end_offset: Int64 = -1
    epoch: Int32 = -1


@struct
class AbortedTransaction:
    producer_id: Int64
    first_offset: Int64


@struct
class PartitionData:
    partition_index: Int32
    error_code: Int16
    high_watermark: Int64
    last_stable_offset: Int64 = since(4, default=-1, ignorable=True)
    log_start_offset: Int64 = since(5, default=-1, ignorable=True)
    diverging_epoch: EpochEndOffset | None = since(12, tag=0, default=None)
    current_leader: LeaderIdAndEpoch | None = since(12, tag=1, default=None)
    snapshot_id: SnapshotId | None = since(12, tag=2, default=None)
    aborted_transactions: list[AbortedTransaction] | None = since(4, factory=list, ignorable=True)
    preferred_read_replica: Int32 = since(11, default=-1)
    records: RecordsSource | None


@struct
class FetchableTopicResponse:
    topic: str = since(0, removed_in=13, default="", ignorable=True)
    topic_id: Uuid = since(13, default=NO_UUID, ignorable=True)
    partitions: list[PartitionData]


@struct
class NodeEndpoint:
    node_id: Int32
    host: str
    port: Int32
    rack: str | None = None


@message(api_key=1, versions=range(0, 18), flexible_from=12)
class FetchResponse:
    throttle_time_ms: Int32 = since(1, default=0, ignorable=True)
    error_code: Int16 = since(7, default=0, ignorable=True)
    session_id: Int32 = since(7, default=0)
    responses: list[FetchableTopicResponse]
    node_endpoints: list[NodeEndpoint] = since(16, tag=0, factory=list)
