"""How a member comes from what it has to what it shall have.

It gives up partitions before it reaches the epoch of its target, and it gets a partition
only when no member has it: so a partition never has two owners.
"""

from collections.abc import Callable
from typing import NamedTuple

from moldau.coordinator.group.consumer.assignment import (
    Assignment,
    assignment_of,
    joined,
    shared,
    without,
)
from moldau.coordinator.group.consumer.member import ConsumerMember, MemberState
from moldau.errors import ErrorCode, KafkaError


class Target(NamedTuple):
    """What a member shall have, as of an epoch."""

    epoch: int
    assignment: Assignment


def reconciled(
    member: ConsumerMember,
    target: Target,
    *,
    owned: Assignment | None,
    is_free: Callable[[bytes, int], bool],
) -> ConsumerMember:
    """The member one step further, or as it is; `owned` is what it says to have, if it does."""
    match member.state:
        case MemberState.STABLE:
            if member.epoch == target.epoch:
                return member
            epoch = member.epoch
        case MemberState.UNREVOKED:
            if _may_have(owned, member.revoking):
                return member
            # All is given up. It was sent an epoch between the last and the target's.
            epoch = member.epoch + 1
        case MemberState.UNRELEASED:
            epoch = member.epoch
        case MemberState.UNKNOWN:
            # Written by a newer coordinator. A member that gives up everything can go on.
            if _may_have(owned, member.revoking):
                raise KafkaError(ErrorCode.FENCED_MEMBER_EPOCH)
            epoch = target.epoch
    return _step(member, epoch, target, owned=owned, is_free=is_free)


def _step(
    member: ConsumerMember,
    epoch: int,
    target: Target,
    *,
    owned: Assignment | None,
    is_free: Callable[[bytes, int], bool],
) -> ConsumerMember:
    kept = shared(member.assigned, target.assignment)
    revoking = without(member.assigned, kept)
    if revoking and _may_have(owned, revoking):
        return member.at(epoch, MemberState.UNREVOKED, kept, revoking)
    wanted = without(target.assignment, kept)
    free = assignment_of(
        (topic_id, [number for number in numbers if is_free(topic_id, number)])
        for topic_id, numbers in wanted.items()
    )
    state = MemberState.STABLE if free == wanted else MemberState.UNRELEASED
    return member.at(target.epoch, state, joined(kept, free))


def _may_have(owned: Assignment | None, partitions: Assignment) -> bool:
    """Whether the member may still have one of the partitions; it may if it does not say."""
    return owned is None or bool(shared(owned, partitions))
