"""How long a client stays authenticated to a broker."""

from typing import NamedTuple


class LoginSession(NamedTuple):
    """How long the broker takes this for an answer; no time means for ever."""

    renew_at_ms: int | None

    def is_due(self, *, now_ms: int) -> bool:
        """Whether it is time to authenticate again."""
        return self.renew_at_ms is not None and now_ms >= self.renew_at_ms


NO_END = LoginSession(None)
