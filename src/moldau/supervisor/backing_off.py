"""How long to wait before a process is started again: a machine."""

from dataclasses import dataclass

_FIRST_S = 0.2
_MAX_S = 30.0
_FACTOR = 2.0
_STEADY_S = 60.0
"""One that has run for so long begins anew."""


@dataclass(slots=True)
class BackingOff:
    """Waits longer from one early end to the next."""

    _wait_s: float = _FIRST_S

    def after(self, lived_s: float) -> float:
        """The wait after a process that has lived for so long."""
        if lived_s >= _STEADY_S:
            self._wait_s = _FIRST_S
        wait_s = self._wait_s
        self._wait_s = min(_MAX_S, wait_s * _FACTOR)
        return wait_s
