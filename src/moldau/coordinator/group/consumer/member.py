"""One member of a group: what it subscribes to, and how far its assignment has come."""

from dataclasses import dataclass, field, replace
from enum import IntEnum

from moldau.coordinator.group.consumer.assignment import NOTHING, Assignment
from moldau.coordinator.group.member import Protocols

JOINING = 0
LEFT = -1
LEFT_FOR_A_WHILE = -2
"""The epoch of a static member that will come back: its partitions wait for it."""


class MemberState(IntEnum):
    """How far a member is on its way to the target; the numbers are those of its record.

        STABLE ──► UNREVOKED ──► UNRELEASED ──► STABLE

    It first gives up what is not in its target, then it waits for what others have not yet
    given up. Its heartbeats move it; every step but the first may be skipped.
    """

    STABLE = 0
    UNREVOKED = 1
    UNRELEASED = 2
    UNKNOWN = 127


@dataclass(frozen=True, slots=True)
class ClassicMember:
    """What only a member of the classic protocol has (rolling upgrades)."""

    session_timeout_ms: int
    protocols: Protocols


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMember:
    """A member as two records keep it: its subscription, and its current assignment."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topic_names: tuple[str, ...] = ()
    topic_pattern: str = ""
    assignor: str | None = None
    classic: ClassicMember | None = None

    epoch: int = JOINING
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    assigned: Assignment = field(default_factory=dict)
    revoking: Assignment = field(default_factory=dict)
    """Partitions that the member still has, but shall give up."""

    @property
    def progress(self) -> tuple[int, MemberState, Assignment, Assignment]:
        """What changes while the member reconciles."""
        return self.epoch, self.state, self.assigned, self.revoking

    def has_reached(self, epoch: int) -> bool:
        """Whether it has all of its target of that epoch."""
        return self.state is MemberState.STABLE and self.epoch == epoch

    def at(
        self,
        epoch: int,
        state: MemberState,
        assigned: Assignment,
        revoking: Assignment = NOTHING,
    ) -> "ConsumerMember":
        """The same member further on."""
        return replace(
            self,
            epoch=epoch,
            previous_epoch=self.epoch,
            state=state,
            assigned=assigned,
            revoking=revoking,
        )
