"""Metadata (key 3): list which brokers lead which partitions."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import NO_UUID, Int16, Int32, Uuid


@struct
class MetadataRequestTopic:
    topic_id: Uuid = since(10, default=NO_UUID, ignorable=True)
    name: str | None = since(0, nullable_from=10)


@message(api_key=3, versions=range(0, 13), flexible_from=9)
class MetadataRequest:
    # All topics: an empty list in version 0, None from version 1, where [] means none.
    topics: list[MetadataRequestTopic] | None = since(0, nullable_from=1)
    allow_auto_topic_creation: bool = since(4, default=True)
    include_cluster_authorized_operations: bool = since(8, removed_in=11, default=False)
    include_topic_authorized_operations: bool = since(8, default=False)


@struct
class MetadataResponseBroker:
    node_id: Int32
    host: str
    port: Int32
    rack: str | None = since(1, default=None, ignorable=True)


@struct
class MetadataResponsePartition:
    error_code: Int16
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32 = since(7, default=-1, ignorable=True)
    replica_nodes: list[Int32]
    isr_nodes: list[Int32]
    offline_replicas: list[Int32] = since(5, factory=list, ignorable=True)


@struct
class MetadataResponseTopic:
    error_code: Int16
    name: str | None = since(0, nullable_from=12)
    topic_id: Uuid = since(10, default=NO_UUID, ignorable=True)
    is_internal: bool = since(1, default=False, ignorable=True)
    partitions: list[MetadataResponsePartition]
    topic_authorized_operations: Int32 = since(8, default=-(2**31))


@message(api_key=3, versions=range(0, 13), flexible_from=9)
class MetadataResponse:
    throttle_time_ms: Int32 = since(3, default=0, ignorable=True)
    brokers: list[MetadataResponseBroker]
    cluster_id: str | None = since(2, default=None, ignorable=True)
    controller_id: Int32 = since(1, default=-1, ignorable=True)
    topics: list[MetadataResponseTopic]
    cluster_authorized_operations: Int32 = since(8, removed_in=11, default=-(2**31))
