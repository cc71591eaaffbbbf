"""The port to time."""

import time
from typing import NamedTuple, Protocol, Self


class Clock(Protocol):
    """Two clocks: one that people set, one that only goes forward."""

    def now_ms(self) -> int:
        """Milliseconds since 1970, for timestamps in records and files; may jump."""

    def monotonic_ms(self) -> int:
        """Milliseconds since some fixed moment, for deadlines; never goes back."""

    def monotonic_ns(self) -> int:
        """The same in nanoseconds, for measuring how long something took."""


class Moment(NamedTuple):
    """Now by both clocks: deadlines go by one, what is stored by the other."""

    monotonic_ms: int
    wall_ms: int

    @classmethod
    def of(cls, clock: Clock) -> Self:
        """This moment."""
        return cls(clock.monotonic_ms(), clock.now_ms())


class SystemClock:
    """The operating system's clocks."""

    __slots__ = ()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    monotonic_ns = staticmethod(time.monotonic_ns)  # as it is: each request asks twice
