"""How far apart in time two records may be that a join brings together."""

from dataclasses import dataclass, replace

from moldau.streams.windows import Duration, milliseconds


@dataclass(frozen=True, slots=True)
class JoinWindows:
    """A record joins those of the other stream from `before_ms` before it to `after_ms` after."""

    before_ms: int
    after_ms: int
    grace_ms: int

    @classmethod
    def of_time_difference_with_no_grace(cls, time_difference: Duration) -> "JoinWindows":
        return cls.of_time_difference_and_grace(time_difference, 0)

    @classmethod
    def of_time_difference_and_grace(
        cls, time_difference: Duration, grace: Duration
    ) -> "JoinWindows":
        difference_ms = milliseconds(time_difference, "the time difference", least=0)
        grace_ms = milliseconds(grace, "the grace period", least=0)
        return cls(difference_ms, difference_ms, grace_ms)

    def before(self, time_difference: Duration) -> "JoinWindows":
        """Another length of time before; it may be negative, if the window stays one."""
        return self._checked(replace(self, before_ms=_signed(time_difference)))

    def after(self, time_difference: Duration) -> "JoinWindows":
        """Another length of time after; it may be negative, if the window stays one."""
        return self._checked(replace(self, after_ms=_signed(time_difference)))

    @property
    def lateness_ms(self) -> int:
        """How long a record may come after one of its time would first have been missed."""
        return self.grace_ms + max(self.before_ms, self.after_ms, 0)

    @staticmethod
    def _checked(windows: "JoinWindows") -> "JoinWindows":
        if windows.before_ms + windows.after_ms < 0:
            raise ValueError("the window would end before it begins")
        return windows


def _signed(duration: Duration) -> int:
    return milliseconds(duration, "the time difference", least=-(2**62))
