"""The bytes that consumers exchange through JoinGroup and SyncGroup.

Each is preceded by its version as an Int16. A reader takes a newer version for the newest
that it knows, and ignores what follows.
"""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int32


@struct
class TopicPartition:
    topic: str
    partitions: list[Int32]


@message(versions=range(0, 4), flexible_from=None)
class ConsumerProtocolSubscription:
    topics: list[str]
    user_data: bytes | None = None
    owned_partitions: list[TopicPartition] = since(1, factory=list, ignorable=True)
    generation_id: Int32 = since(2, default=-1, ignorable=True)
    rack_id: str | None = since(3, default=None, ignorable=True)


@message(versions=range(0, 4), flexible_from=None)
class ConsumerProtocolAssignment:
    assigned_partitions: list[TopicPartition]
    user_data: bytes | None = None
