"""Who has logged in: kept in memory by a cookie that only the browser has."""

import hashlib
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from starlette.requests import Request

from moldau.web.users import User

LIFETIME_S = 8 * 3600
_SESSIONS_MAX = 10_000
_MARK_BYTES = 32


@dataclass(frozen=True, slots=True)
class BrowserLogin:
    """One login."""

    user: User
    ends_s: float
    claims: Mapping[str, object] = field(default_factory=dict)
    """What the identity provider said, for the user's own eyes."""


class BrowserLogins:
    """All logins; a restart forgets them, and so does time."""

    def __init__(self, *, is_secure: bool, now_s: Callable[[], float] = time.monotonic) -> None:
        # Browsers keep cookies of this name from pages without TLS and of other paths.
        self.cookie = "__Host-moldau" if is_secure else "moldau"
        self._is_secure = is_secure
        self._now_s = now_s
        self._known: dict[bytes, BrowserLogin] = {}

    def begin(self, user: User, claims: Mapping[str, object]) -> str:
        """The header of the cookie for a new login."""
        mark = secrets.token_urlsafe(_MARK_BYTES)
        while len(self._known) >= _SESSIONS_MAX:
            del self._known[next(iter(self._known))]
        self._known[_digest(mark)] = BrowserLogin(user, self._now_s() + LIFETIME_S, claims)
        return self._header(mark, LIFETIME_S)

    def of(self, request: Request) -> BrowserLogin | None:
        """The login that a request belongs to."""
        mark = request.cookies.get(self.cookie)
        if not mark:
            return None
        found = self._known.get(_digest(mark))
        if found is not None and found.ends_s <= self._now_s():
            del self._known[_digest(mark)]
            return None
        return found

    def recognise(self, request: Request) -> User | None:
        """Whom a request is from, by its cookie."""
        found = self.of(request)
        return None if found is None else found.user

    def end(self, request: Request) -> str:
        """Forget a login; the header that takes its cookie away."""
        self._known.pop(_digest(request.cookies.get(self.cookie, "")), None)
        return self._header("", 0)

    def _header(self, value: str, age_s: int) -> str:
        secure = "; Secure" if self._is_secure else ""
        return f"{self.cookie}={value}; Path=/; Max-Age={age_s}; HttpOnly; SameSite=Strict{secure}"


def _digest(mark: str) -> bytes:
    """Kept in place of the cookie: looking it up says nothing by its time."""
    return hashlib.sha256(mark.encode()).digest()
