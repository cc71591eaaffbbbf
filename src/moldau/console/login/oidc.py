"""Logins by OpenID Connect: a code for a browser, exchanged with PKCE, and a token checked here."""

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request

from moldau.security.oauthbearer import TokenRefused
from moldau.security.web_fetch import FetchFailed, fetch
from moldau.security.web_keys import WebKey, read_keys
from moldau.security.web_tokens import ClaimRules, check_claims, read_token
from moldau.web.errors import WebError
from moldau.web.proxies import groups_of
from moldau.web.users import User

CALLBACK = "/oidc/callback"
_LOGIN_S = 600.0
_LOGINS_MAX = 1000
_KEYS_INTERVAL_S = 10.0
_TIMEOUT_S = 10.0
_MARK_BYTES = 32
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NAMES = ("preferred_username", "email", "sub")
_BAD_GATEWAY, _REFUSED = 502, 403


@dataclass(frozen=True, slots=True)
class OidcOptions:
    """How to reach an identity provider, and as whom."""

    issuer: str
    client_id: str
    url: str
    """Where browsers find this console, for the way back."""
    client_secret: str | None = field(default=None, repr=False)
    groups_claim: str = "groups"
    scopes: str = "openid profile email"

    def __post_init__(self) -> None:
        for name in ("issuer", "url"):
            _check_url(str(getattr(self, name)), name)


@dataclass(frozen=True, slots=True)
class StartedLogin:
    """One that has gone to the provider, and has not come back."""

    browser: bytes = field(repr=False)
    """Of the cookie that the browser got; nobody else's code is taken from it."""
    verifier: str = field(repr=False)
    nonce: str
    target: str
    """Where the user wanted to go."""
    ends_s: float


@dataclass(frozen=True, slots=True)
class ProviderEndpoints:
    """What discovery has found."""

    authorization: str
    token: str
    keys: str


class OidcProvider:
    """An identity provider; it is asked with the first login, so it may come later."""

    def __init__(self, options: OidcOptions, now_s: Callable[[], float] = time.monotonic) -> None:
        self.options = options
        self._now_s = now_s
        self._endpoints: ProviderEndpoints | None = None
        self._keys: Mapping[str, WebKey] = {}
        self._keys_at_s = -_KEYS_INTERVAL_S
        self._started: dict[str, StartedLogin] = {}
        self._asking = asyncio.Lock()

    async def begin(self, target: str) -> tuple[str, str]:
        """Where the browser is sent, and the mark that it is to bring back as a cookie."""
        endpoints = await self._discovered()
        state, nonce, verifier, browser = (secrets.token_urlsafe(_MARK_BYTES) for _ in range(4))
        self._forget_old()
        self._started[state] = StartedLogin(
            *(browser.encode(), verifier, nonce, _safe(target), self._now_s() + _LOGIN_S)
        )
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest())
        query = {
            "response_type": "code",
            "client_id": self.options.client_id,
            "redirect_uri": self.options.url.rstrip("/") + CALLBACK,
            "scope": self.options.scopes,
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge.decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        joint = "&" if "?" in endpoints.authorization else "?"
        return f"{endpoints.authorization}{joint}{urlencode(query)}", browser

    def _forget_old(self) -> None:
        now_s = self._now_s()
        old = [state for state, each in self._started.items() if each.ends_s <= now_s]
        for state in old:
            del self._started[state]
        while len(self._started) >= _LOGINS_MAX:
            del self._started[next(iter(self._started))]

    async def finish(
        self, state: str, code: str, browser: str
    ) -> tuple[User, Mapping[str, object], str]:
        """Who has logged in, with what claims, and where to; a state is good for once."""
        started = self._started.pop(state, None)
        if started is None or started.ends_s <= self._now_s():
            raise WebError(_REFUSED, "this login is not known any more: begin again")
        if not hmac.compare_digest(started.browser, browser.encode()):
            raise WebError(_REFUSED, "this login was begun in another browser: begin again")
        token = await self._exchange(code, started.verifier)
        try:
            claims, name = await self._checked(token, started.nonce)
        except TokenRefused as error:
            raise WebError(_REFUSED, f"the identity provider's token is refused: {error}") from None
        groups = claims.get(self.options.groups_claim)
        listed = [groups] if isinstance(groups, str) else groups
        roles = groups_of(listed if isinstance(listed, list) else ())
        return User(name, roles=roles), claims, started.target

    async def _exchange(self, code: str, verifier: str) -> str:
        options, endpoints = self.options, await self._discovered()
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": options.url.rstrip("/") + CALLBACK,
            "client_id": options.client_id,
            "code_verifier": verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if options.client_secret is not None:
            pair = f"{quote(options.client_id, safe='')}:{quote(options.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        answer = await _ask(endpoints.token, urlencode(fields).encode(), headers)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise WebError(_BAD_GATEWAY, "the identity provider sent no id_token: scope openid?")
        return token

    async def _checked(self, text: str, nonce: str) -> tuple[Mapping[str, object], str]:
        token = read_token(text)
        key = await self._key(token.header.get("kid"))
        key.verify(token)
        options = self.options
        name = next((each for each in _NAMES if isinstance(token.claims.get(each), str)), "sub")
        rules = ClaimRules(
            issuer=options.issuer,
            audiences=(options.client_id,),
            user_claim=name,
            has_issue_time=False,
        )
        identity = check_claims(token.claims, rules, now_ms=time.time_ns() // 1_000_000)
        sent = token.claims.get("nonce")
        if not isinstance(sent, str) or not hmac.compare_digest(sent.encode(), nonce.encode()):
            raise TokenRefused("it is of another login")
        if token.claims.get("azp", options.client_id) != options.client_id:
            raise TokenRefused("it was issued for another client")
        return token.claims, identity.user

    async def _key(self, key_id: object) -> WebKey:
        if key_id not in self._keys:
            await self._read_keys()
        # A provider with one key may leave its name out of tokens.
        if key_id is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        if not isinstance(key_id, str) or key_id not in self._keys:
            raise TokenRefused("its key is not one of the provider's")
        return self._keys[key_id]

    async def _read_keys(self) -> None:
        async with self._asking:
            if self._now_s() - self._keys_at_s < _KEYS_INTERVAL_S:
                return  # anybody can name a key that is not there
            self._keys_at_s = self._now_s()
            endpoints = self._endpoints
            assert endpoints is not None, "found with the exchange"
            try:
                self._keys = read_keys(await _read(endpoints.keys, None, {}))
            except (FetchFailed, ValueError) as error:
                raise WebError(_BAD_GATEWAY, f"the identity provider's keys: {error}") from None

    async def _discovered(self) -> ProviderEndpoints:
        async with self._asking:
            if self._endpoints is None:
                self._endpoints = await self._discover()
        return self._endpoints

    async def _discover(self) -> ProviderEndpoints:
        url = f"{self.options.issuer.rstrip('/')}/.well-known/openid-configuration"
        found = await _ask(url, None, {})
        if found.get("issuer") != self.options.issuer:
            raise WebError(
                _BAD_GATEWAY,
                f"{url} is of the issuer {found.get('issuer')}: --oidc is to say the same",
            )
        names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        urls = [str(found.get(name, "")) for name in names]
        try:
            for name, each in zip(names, urls, strict=True):
                _check_url(each, name)
        except ValueError as error:
            raise WebError(_BAD_GATEWAY, f"{url}: {error}") from None
        return ProviderEndpoints(*urls)


def _check_url(url: str, name: str) -> None:
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if not is_safe or not parts.hostname:
        raise ValueError(f"{name}: {url!r} is no address with https")


def _safe(target: str) -> str:
    """A path of this console; anything else would send users elsewhere after their login."""
    is_path = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if is_path and target.isprintable() and len(target) <= 2000 else "/"


async def _ask(url: str, data: bytes | None, headers: Mapping[str, str]) -> dict[str, object]:
    try:
        found = json.loads(await _read(url, data, headers))
    except FetchFailed as error:
        host = urlsplit(url).netloc
        raise WebError(_BAD_GATEWAY, f"the identity provider at {host}: {error}") from None
    except (ValueError, RecursionError):
        raise WebError(_BAD_GATEWAY, f"{url} answers no JSON") from None
    if not isinstance(found, dict):
        raise WebError(_BAD_GATEWAY, f"{url} answers no JSON object")
    return found


async def _read(url: str, data: bytes | None, headers: Mapping[str, str]) -> bytes:
    request = Request(  # noqa: S310 - checked by _check_url
        url, data, {"Accept": "application/json", **headers}
    )
    return await asyncio.to_thread(fetch, request, timeout_s=_TIMEOUT_S)
