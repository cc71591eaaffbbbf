"""Requests and responses of the consumer protocol's members and of tools."""

from dataclasses import dataclass
from typing import NamedTuple

from moldau.coordinator.group.consumer.assignment import Assignment
from moldau.coordinator.group.consumer.member import ConsumerMember


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """What has changed at a member since its last heartbeat; None is for what has not."""

    member_id: str
    epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int | None = None
    topic_names: tuple[str, ...] | None = None
    topic_pattern: str | None = None
    assignor: str | None = None
    owned: Assignment | None = None
    client_id: str = ""
    client_host: str = ""
    # The member's id from now on, if it has none; newer members make their own (KIP-1082).
    new_member_id: str = ""
    must_have_id: bool = False

    @property
    def is_full(self) -> bool:
        """Whether the member sends everything, since it does not know what has arrived."""
        has_subscription = self.topic_names is not None or self.topic_pattern is not None
        return has_subscription and None not in (self.rebalance_timeout_ms, self.owned)


class HeartbeatReply(NamedTuple):
    """Where a member stands; its assignment, if it may not know it."""

    member_id: str
    epoch: int
    interval_ms: int = 0
    assignment: Assignment | None = None


class DescribedConsumer(NamedTuple):
    """A member as tools see it."""

    member: ConsumerMember
    target: Assignment


class ConsumerDescription(NamedTuple):
    """A group as tools see it."""

    state: str
    epoch: int
    assignment_epoch: int
    assignor: str
    members: tuple[DescribedConsumer, ...]
