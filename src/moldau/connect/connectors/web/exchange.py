"""Requests to a web server, which are tried again after failures that may pass."""

import email.utils
import http.client
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field

from moldau.connect.errors import ConfigError, ConnectError, RetriableConnectError

_MAY_PASS = (408, 425, 429)
_REDIRECTS, _REDIRECTS_MAX = (301, 302, 303, 307, 308), 5
_SHOWN_BYTES = 200
_WAIT_MAX_S = 300.0
_NAMES = ("http", "https")


class WebRefusal(ConnectError):
    """What the server does not take, and will not take a second time."""


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """What a server said."""

    body: bytes
    headers: Mapping[str, str]


class _Overloaded(RetriableConnectError):
    """The server has said how long to wait."""

    wait_s: float | None = None


def _opener_without_redirects() -> urllib.request.OpenerDirector:
    """Following them, urllib takes a login to other servers, and makes a GET of a POST."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


_opener = _opener_without_redirects()


@dataclass(slots=True)
class WebExchange:
    """Sends requests, one after the other."""

    headers: Mapping[str, str] = field(repr=False)
    timeout_s: float = 30
    retries: int = 1
    back_off_s: float = 3.0
    body_max_bytes: int | None = None
    """How long an answer may be; None if it is of no use."""
    _closed: threading.Event = field(default_factory=threading.Event)

    def send(self, url: str, body: bytes | None = None, method: str = "POST") -> WebAnswer:
        """The answer; WebRefusal if another attempt is of no use."""
        retries_left = self.retries
        while True:
            try:
                return self._once(url, body, method)
            except RetriableConnectError as error:
                wait_s = error.wait_s if isinstance(error, _Overloaded) else None
                wait_s = self.back_off_s if wait_s is None else min(wait_s, _WAIT_MAX_S)
                if retries_left <= 0 or self._closed.wait(wait_s):
                    raise
                retries_left -= 1

    def close(self) -> None:
        """Stop waiting for another attempt."""
        self._closed.set()

    def _once(self, url: str, body: bytes | None, method: str) -> WebAnswer:
        for _ in range(_REDIRECTS_MAX):
            found = self._asked(url, body, method)
            if isinstance(found, WebAnswer):
                return found
            url = found
        raise WebRefusal(f"{shown_url(url)}: it was redirected {_REDIRECTS_MAX} times")

    def _asked(self, url: str, body: bytes | None, method: str) -> WebAnswer | str:
        """The answer, or where on the same server it is."""
        request = urllib.request.Request(  # noqa: S310 - `checked_url` looks at the scheme
            url, body, dict(self.headers), method=method
        )
        shown = shown_url(url)
        try:
            with _opener.open(request, timeout=self.timeout_s) as answer:
                limit = self.body_max_bytes
                text = answer.read(_SHOWN_BYTES if limit is None else limit + 1)
                headers = {name.lower(): value for name, value in answer.headers.items()}
        except urllib.error.HTTPError as error:
            with error:
                there = _redirected(url, error) if method == "GET" else None
                if there is not None:
                    return there
                raise _failure(shown, error) from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise RetriableConnectError(f"{shown}: {reason}") from error
        if limit is not None and len(text) > limit:
            raise WebRefusal(f"{shown}: the answer has more than {limit} bytes")
        return WebAnswer(text, headers)


def _redirected(url: str, error: urllib.error.HTTPError) -> str | None:
    there = error.headers.get("Location")
    if error.code not in _REDIRECTS or there is None:
        return None
    here, target = urllib.parse.urlsplit(url), urllib.parse.urljoin(url, there)
    parts = urllib.parse.urlsplit(target)
    return target if (parts.scheme, parts.netloc) == (here.scheme, here.netloc) else None


def _failure(shown: str, error: urllib.error.HTTPError) -> ConnectError:
    said = error.read(_SHOWN_BYTES).decode(errors="replace")
    text = f"{shown}: {error.code} {error.reason}: {said}"
    if error.code not in _MAY_PASS and error.code < 500:
        return WebRefusal(text)
    found = _Overloaded(text)
    found.wait_s = _seconds(error.headers.get("Retry-After", ""))
    return found


def _seconds(text: str) -> float | None:
    """A number of seconds, or a time."""
    if text.strip().isdecimal():
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def checked_url(name: str, text: str) -> str:
    """A setting that is an address, without a password in it."""
    try:
        parts = urllib.parse.urlsplit(text)
        is_address = parts.scheme in _NAMES and parts.hostname and not parts.username
    except ValueError:
        is_address = False
    if not is_address:
        raise ConfigError(f"{name}: it is no address of the form http://host/path")
    return text


def shown_url(url: str) -> str:
    """Without what may be a token."""
    return urllib.parse.urlsplit(url)._replace(query="", fragment="").geturl()


def header_pairs(setting: str, text: str, separator: str) -> dict[str, str]:
    """`name:value,name:value`."""
    found: dict[str, str] = {}
    for pair in filter(None, map(str.strip, text.split(separator))):
        name, colon, value = pair.partition(":")
        if not colon or not name.strip() or not value.isprintable():
            raise ConfigError(f"{setting}: {name} is none of NAME:VALUE")
        found[name.strip()] = value.strip()
    return found
