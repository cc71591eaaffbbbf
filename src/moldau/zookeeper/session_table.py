"""Sessions of clients: a machine that says which one has been silent for too long."""

import hmac
import os
from collections.abc import Iterable
from dataclasses import dataclass

from moldau.coordination.nodes import SessionRow
from moldau.zookeeper.messages import PASSWORD_BYTES


@dataclass(frozen=True, slots=True)
class SessionBounds:
    """What a client may ask for."""

    min_timeout_ms: int = 4_000
    max_timeout_ms: int = 40_000

    def within(self, timeout_ms: int) -> int:
        """The timeout that a client gets."""
        return min(max(timeout_ms, self.min_timeout_ms), self.max_timeout_ms)


@dataclass(slots=True)
class _Known:
    row: SessionRow
    expires_ms: int


class SessionTable:
    """The sessions that live; time is passed in, of a clock that never goes back."""

    def __init__(self, rows: Iterable[SessionRow], next_id: int, *, now_ms: int) -> None:
        """Sessions of before a restart have their whole time to come back."""
        self._next_id = next_id
        self._known = {row.session_id: _Known(row, now_ms + row.timeout_ms) for row in rows}

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, session_id: int) -> bool:
        return session_id in self._known

    def begin(self, timeout_ms: int, now_ms: int) -> SessionRow:
        """A new session."""
        row = SessionRow(self._next_id, os.urandom(PASSWORD_BYTES), timeout_ms)
        self._next_id += 1
        self._known[row.session_id] = _Known(row, now_ms + timeout_ms)
        return row

    def resume(self, session_id: int, password: bytes, timeout_ms: int, now_ms: int) -> int | None:
        """The timeout of a session that somebody with this password may go on with, or None."""
        known = self._known.get(session_id)
        if known is None or not hmac.compare_digest(known.row.password, password):
            return None
        known.row = known.row._replace(timeout_ms=timeout_ms)
        known.expires_ms = now_ms + timeout_ms
        return timeout_ms

    def touch(self, session_id: int, now_ms: int) -> None:
        """The client of a session has sent something."""
        known = self._known.get(session_id)
        if known is not None:
            known.expires_ms = now_ms + known.row.timeout_ms

    def end(self, session_id: int) -> None:
        """The session is over."""
        self._known.pop(session_id, None)

    def expired(self, now_ms: int) -> list[int]:
        """The sessions whose clients sent nothing for too long."""
        return [number for number, known in self._known.items() if known.expires_ms <= now_ms]
