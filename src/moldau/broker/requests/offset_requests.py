"""What requests about committed offsets have in common: who asks, and how many at a time."""

from moldau.coordinator.group.messages import MemberIdentity

COMMITTED_TOGETHER = 200
"""More than so many offsets are stored by several batches: each takes the time to write it."""
_EPOCHS_SINCE = 9


def identity_of(
    version: int, member_id: str, generation: int, instance_id: str | None
) -> MemberIdentity:
    """The member that commits; members of the consumer protocol may since version 9 (KIP-848)."""
    return MemberIdentity(member_id, generation, instance_id, version >= _EPOCHS_SINCE)
