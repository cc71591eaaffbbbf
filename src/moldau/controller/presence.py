"""Whether the process of a registered broker is gone, by what its connections say: a machine.

A broker's session says for sure that it is gone, but late. A process that has died says so at
once: its connections end, and its port refuses others. Both together, for a while, are taken as
its end; what is silent, or cannot be reached, proves nothing.

States, and what moves a broker from one to the next:

- unknown: it has never answered. A broker may register before it listens, so refusing means
  nothing yet.
- here: it has answered.
- doubted: it has answered before, and refuses now.
- gone: it has refused whenever it was called, for `CONFIRMED_MS`.

An answer leads from every state to *here*: one that was only slow to listen comes back by itself.
"""

from dataclasses import dataclass
from enum import Enum, auto

CONFIRMED_MS = 300
CALL_AGAIN_MS = 100
"""Between two calls of a broker that was here until now."""
LOOK_AGAIN_MS = 500
"""Between two calls of any other."""


class Sign(Enum):
    """What came of calling a broker: a sign of life, or of its end, or none."""

    ANSWERED = auto()
    REFUSED = auto()
    """Its machine says that nobody listens there."""
    SILENT = auto()
    """Anything else: a time-out, a machine that is not reached, a connection that ends at once."""


@dataclass(slots=True)
class Presence:
    """One registration of a broker, as it is seen from here."""

    is_gone: bool = False
    _has_answered: bool = False
    _refused_since_ms: int | None = None
    _next_call_ms: int = 0

    def note(self, sign: Sign, *, now_ms: int) -> bool:
        """The broker was called; returns whether it is gone, or back, by that."""
        was_gone = self.is_gone
        if sign is Sign.ANSWERED:
            self._has_answered = True
            self.is_gone = False
        if sign is not Sign.REFUSED or not self._has_answered:
            self._refused_since_ms = None
        elif self._refused_since_ms is None:
            self._refused_since_ms = now_ms
        elif now_ms - self._refused_since_ms >= CONFIRMED_MS:
            self.is_gone = True
        is_in_doubt = self._refused_since_ms is not None and not self.is_gone
        is_urgent = is_in_doubt or sign is Sign.ANSWERED
        self._next_call_ms = now_ms + (CALL_AGAIN_MS if is_urgent else LOOK_AGAIN_MS)
        return self.is_gone != was_gone

    def wait_ms(self, *, now_ms: int) -> int:
        """How long to wait before it is called again, once there is no connection to it."""
        return max(0, self._next_call_ms - now_ms)
