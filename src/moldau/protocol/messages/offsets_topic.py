"""Records of `__consumer_offsets`: committed offsets and classic groups.

Key and value are each preceded by their version as an Int16. The key's version says what
the record is: 0 and 1 an offset, 2 a group, more a KIP-848 group (`consumer_group_records`).
"""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int32, Int64


@message(versions=range(0, 2), flexible_from=None)
class OffsetCommitKey:
    group: str
    topic: str
    partition: Int32


@message(versions=range(0, 5), flexible_from=4)
class OffsetCommitValue:
    offset: Int64
    leader_epoch: Int32 = since(3, default=-1, ignorable=True)
    metadata: str
    commit_timestamp: Int64
    # Written only where a retention time was given explicitly.
    expire_timestamp: Int64 = since(1, removed_in=2, default=-1, ignorable=True)


@message(versions=range(2, 3), flexible_from=None)
class GroupMetadataKey:
    group: str


@struct
class MemberMetadata:
    member_id: str
    group_instance_id: str | None = since(3, default=None, ignorable=True)
    client_id: str
    client_host: str
    rebalance_timeout: Int32 = since(1, default=-1, ignorable=True)
    session_timeout: Int32
    subscription: bytes
    assignment: bytes


@message(versions=range(0, 5), flexible_from=4)
class GroupMetadataValue:
    protocol_type: str
    generation: Int32
    protocol: str | None
    leader: str | None
    current_state_timestamp: Int64 = since(2, default=-1, ignorable=True)
    members: list[MemberMetadata]
