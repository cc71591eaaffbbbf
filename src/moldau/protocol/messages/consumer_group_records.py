"""Records of `__consumer_offsets` that belong to groups of the KIP-848 protocol.

Key and value are each preceded by their version as an Int16; the keys' versions differ, so
that they distinguish the records.
"""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int8, Int32, Uuid


@message(versions=range(3, 4), flexible_from=None)
class ConsumerGroupMetadataKey:
    group_id: str


@message(versions=range(0, 1), flexible_from=0)
class ConsumerGroupMetadataValue:
    epoch: Int32


@message(versions=range(4, 5), flexible_from=None)
class ConsumerGroupPartitionMetadataKey:
    group_id: str


@struct
class PartitionMetadata:
    partition: Int32
    racks: list[str]


@struct
class TopicMetadata:
    topic_id: Uuid
    topic_name: str
    num_partitions: Int32
    partition_metadata: list[PartitionMetadata]


@message(versions=range(0, 1), flexible_from=0)
class ConsumerGroupPartitionMetadataValue:
    topics: list[TopicMetadata]


@message(versions=range(5, 6), flexible_from=None)
class ConsumerGroupMemberMetadataKey:
    group_id: str
    member_id: str


@struct
class ClassicProtocol:
    name: str
    metadata: bytes


@struct
class ClassicMemberMetadata:
    session_timeout_ms: Int32
    supported_protocols: list[ClassicProtocol]


@message(versions=range(0, 1), flexible_from=0)
class ConsumerGroupMemberMetadataValue:
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: Int32 = -1
    server_assignor: str | None
    classic_member_metadata: ClassicMemberMetadata | None = since(
        0, tag=0, nullable_from=0, default=None
    )


@message(versions=range(6, 7), flexible_from=None)
class ConsumerGroupTargetAssignmentMetadataKey:
    group_id: str


@message(versions=range(0, 1), flexible_from=0)
class ConsumerGroupTargetAssignmentMetadataValue:
    assignment_epoch: Int32


@message(versions=range(7, 8), flexible_from=None)
class ConsumerGroupTargetAssignmentMemberKey:
    group_id: str
    member_id: str


@struct
class TopicPartitions:
    topic_id: Uuid
    partitions: list[Int32]


@message(versions=range(0, 1), flexible_from=0)
class ConsumerGroupTargetAssignmentMemberValue:
    topic_partitions: list[TopicPartitions]


@message(versions=range(8, 9), flexible_from=None)
class ConsumerGroupCurrentMemberAssignmentKey:
    group_id: str
    member_id: str


@message(versions=range(0, 1), flexible_from=0)
class ConsumerGroupCurrentMemberAssignmentValue:
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: list[TopicPartitions]
    partitions_pending_revocation: list[TopicPartitions]
