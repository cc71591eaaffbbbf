"""What has happened at a broker's coordinators since it started, for its metrics."""

from dataclasses import dataclass


@dataclass(slots=True)
class GroupCounts:
    """Of groups and their offsets."""

    committed_offsets: int = 0
    expired_offsets: int = 0
    deleted_offsets: int = 0
    completed_rebalances: int = 0


@dataclass(slots=True)
class LoadTimes:
    """How long partitions took to load."""

    count: int = 0
    total_ms: int = 0
    max_ms: int = 0

    def note(self, duration_ms: int) -> None:
        """One more was loaded."""
        self.count += 1
        self.total_ms += duration_ms
        self.max_ms = max(self.max_ms, duration_ms)

    @property
    def average_ms(self) -> float:
        """0 as long as there was none."""
        return self.total_ms / max(self.count, 1)
