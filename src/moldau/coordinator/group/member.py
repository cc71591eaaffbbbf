"""One member of a group."""

from dataclasses import dataclass, field

from moldau.coordinator.decision import PendingReply
from moldau.coordinator.group.messages import JoinReply, SyncReply

Protocols = tuple[tuple[str, bytes], ...]
"""Names with the member's metadata for each, the one it likes best first."""


@dataclass(slots=True, kw_only=True)
class Member:
    """What a member said when it joined, and what it waits for."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: Protocols
    assignment: bytes = b""
    # A new member cannot send heartbeats, since it does not know its id.
    is_new: bool = False
    join: PendingReply[JoinReply] | None = field(default=None, repr=False)
    sync: PendingReply[SyncReply] | None = field(default=None, repr=False)

    @property
    def is_static(self) -> bool:
        return self.instance_id is not None

    @property
    def is_parked(self) -> bool:
        """Whether a request of this member waits for the group; then it need not heartbeat."""
        return self.join is not None or self.sync is not None

    def metadata(self, protocol_name: str) -> bytes:
        """What the member says under a protocol that it supports."""
        for name, metadata in self.protocols:
            if name == protocol_name:
                return metadata
        raise AssertionError(f"{self.member_id} does not support {protocol_name}")

    def vote(self, candidates: list[str]) -> str:
        """The candidate that the member likes best."""
        return next(name for name, _ in self.protocols if name in candidates)
