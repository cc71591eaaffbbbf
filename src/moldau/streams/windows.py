"""Windows of time, with the names of Kafka Streams."""

from dataclasses import dataclass, replace
from datetime import timedelta

Duration = timedelta | int  # an int is in milliseconds


def milliseconds(duration: Duration, what: str, *, least: int = 1) -> int:
    """A duration in milliseconds, which must be at least so long."""
    count = duration if isinstance(duration, int) else duration // timedelta(milliseconds=1)
    if count < least:
        raise ValueError(f"{what} must be at least {least} ms, is {count} ms")
    return count


@dataclass(frozen=True, slots=True)
class TimeWindows:
    """Windows of one size that begin at multiples of the advance: tumbling, or hopping."""

    size_ms: int
    advance_ms: int
    grace_ms: int

    @classmethod
    def of_size_with_no_grace(cls, size: Duration) -> "TimeWindows":
        return cls.of_size_and_grace(size, 0)

    @classmethod
    def of_size_and_grace(cls, size: Duration, grace: Duration) -> "TimeWindows":
        size_ms = milliseconds(size, "the size of a window")
        return cls(size_ms, size_ms, milliseconds(grace, "the grace period", least=0))

    def advance_by(self, advance: Duration) -> "TimeWindows":
        advance_ms = milliseconds(advance, "the advance of windows")
        if advance_ms > self.size_ms:
            raise ValueError(f"an advance of {advance_ms} ms is more than the size of a window")
        return replace(self, advance_ms=advance_ms)


@dataclass(frozen=True, slots=True)
class SlidingWindows:
    """For each record the window that ends with it, and the one that begins just after it."""

    time_difference_ms: int
    grace_ms: int

    @classmethod
    def of_time_difference_with_no_grace(cls, time_difference: Duration) -> "SlidingWindows":
        return cls.of_time_difference_and_grace(time_difference, 0)

    @classmethod
    def of_time_difference_and_grace(
        cls, time_difference: Duration, grace: Duration
    ) -> "SlidingWindows":
        difference_ms = milliseconds(time_difference, "the time difference", least=0)
        return cls(difference_ms, milliseconds(grace, "the grace period", least=0))


@dataclass(frozen=True, slots=True)
class SessionWindows:
    """Records of a key belong together until nothing comes for the length of the gap."""

    gap_ms: int
    grace_ms: int

    @classmethod
    def of_inactivity_gap_with_no_grace(cls, gap: Duration) -> "SessionWindows":
        return cls.of_inactivity_gap_and_grace(gap, 0)

    @classmethod
    def of_inactivity_gap_and_grace(cls, gap: Duration, grace: Duration) -> "SessionWindows":
        gap_ms = milliseconds(gap, "the gap between sessions")
        return cls(gap_ms, milliseconds(grace, "the grace period", least=0))


Windows = TimeWindows | SlidingWindows | SessionWindows
