"""When what has failed is begun anew: later each time, and not for ever."""

from dataclasses import dataclass

from moldau.connect.errors import ConfigError, DataError

BACK_OFF_S = (1.0, 2.0, 5.0, 15.0, 60.0, 300.0)
RESTARTS_MAX = "restarts.max"


@dataclass(frozen=True, slots=True)
class RestartRule:
    """The rule for tasks, and for connectors that cannot be started."""

    limit: int = len(BACK_OFF_S)
    """How often in a row; negative for as often as need be."""
    back_off_s: tuple[float, ...] = BACK_OFF_S

    def wait_s(self, error: Exception, count: int) -> float | None:
        """How long to wait after so many restarts in a row; None if that is of no use any more."""
        # What is wrong with settings or records stays wrong.
        is_final = isinstance(error, ConfigError | DataError)
        if is_final or 0 <= self.limit <= count:
            return None
        return self.back_off_s[min(count, len(self.back_off_s) - 1)]

    def described(self, number: int, wait_s: float) -> str:
        """For a status and the log."""
        of = "" if self.limit < 0 else f" of {self.limit}"
        return f"restart {number}{of} in {wait_s:g} s"
