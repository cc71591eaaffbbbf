"""A login is known by its cookie, until it ends."""

import pytest
from starlette.requests import Request

from moldau.console.login import sessions
from moldau.console.login.sessions import LIFETIME_S, BrowserLogins
from moldau.web.users import User

ANNA = User("anna")


class Clock:
    """Goes when a test says so."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def request(cookie: str) -> Request:
    return Request({"type": "http", "headers": [(b"cookie", cookie.encode())]})


def sent_back(header: str) -> Request:
    return request(header.partition(";")[0])


def test_a_login_is_known_until_its_time_is_over() -> None:
    clock = Clock()
    known = BrowserLogins(is_secure=True, now_s=clock)
    header = known.begin(ANNA, {"sub": "1"})
    for flag in ("__Host-moldau=", "HttpOnly", "SameSite=Strict", "Secure", "Path=/;"):
        assert flag in header
    found = known.of(sent_back(header))
    assert found is not None
    assert (found.user, found.claims) == (ANNA, {"sub": "1"})
    clock.now_s = LIFETIME_S
    assert known.recognise(sent_back(header)) is None


def test_without_tls_the_cookie_is_not_kept_for_tls_alone() -> None:
    header = BrowserLogins(is_secure=False).begin(ANNA, {})
    assert header.startswith("moldau=")
    assert "Secure" not in header


def test_nobody_is_known_by_another_cookie() -> None:
    known = BrowserLogins(is_secure=False)
    header = known.begin(ANNA, {})
    for cookie in ("", "moldau=", "moldau=x", "other=" + header[7:50], header[:20]):
        assert known.recognise(request(cookie)) is None


def test_a_login_ends() -> None:
    known = BrowserLogins(is_secure=False)
    header = known.begin(ANNA, {})
    assert "Max-Age=0" in known.end(sent_back(header))
    assert known.recognise(sent_back(header)) is None


def test_the_oldest_go_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_SESSIONS_MAX", 2)
    known = BrowserLogins(is_secure=False)
    headers = [known.begin(User(name), {}) for name in "abc"]
    assert known.recognise(sent_back(headers[0])) is None
    assert known.recognise(sent_back(headers[2])) == User("c")
