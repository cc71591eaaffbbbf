"""OffsetFetch (key 9): ask how far a group has read.

Up to version 7 one group is asked for, from version 8 several.
"""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@struct
class OffsetFetchRequestTopic:
    name: str
    partition_indexes: list[Int32]


@struct
class OffsetFetchRequestTopics:
    name: str
    partition_indexes: list[Int32]


@struct
class OffsetFetchRequestGroup:
    group_id: str
    member_id: str | None = since(9, default=None, ignorable=True)
    member_epoch: Int32 = since(9, default=-1, ignorable=True)
    # None asks for all topics.
    topics: list[OffsetFetchRequestTopics] | None


@message(api_key=9, versions=range(0, 10), flexible_from=6)
class OffsetFetchRequest:
    group_id: str = since(0, removed_in=8, default="")
    # None asks for all topics.
    topics: list[OffsetFetchRequestTopic] | None = since(
        0, removed_in=8, nullable_from=2, factory=list
    )
    groups: list[OffsetFetchRequestGroup] = since(8, factory=list)
    require_stable: bool = since(7, default=False)


@struct
class OffsetFetchResponsePartition:
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = since(5, default=-1, ignorable=True)
    metadata: str | None
    error_code: Int16


@struct
class OffsetFetchResponseTopic:
    name: str
    partitions: list[OffsetFetchResponsePartition]


@struct
class OffsetFetchResponsePartitions:
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = -1
    metadata: str | None
    error_code: Int16


@struct
class OffsetFetchResponseTopics:
    name: str
    partitions: list[OffsetFetchResponsePartitions]


@struct
class OffsetFetchResponseGroup:
    group_id: str
    topics: list[OffsetFetchResponseTopics]
    error_code: Int16 = 0


@message(api_key=9, versions=range(0, 10), flexible_from=6)
class OffsetFetchResponse:
    throttle_time_ms: Int32 = since(3, default=0, ignorable=True)
    topics: list[OffsetFetchResponseTopic] = since(0, removed_in=8, factory=list)
    error_code: Int16 = since(2, removed_in=8, default=0, ignorable=True)
    groups: list[OffsetFetchResponseGroup] = since(8, factory=list)
