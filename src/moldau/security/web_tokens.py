"""Tokens that another server issued (JWT, RFC 7519): what they say, and whether that will do.

A signature is looked at in `web_keys`; this module makes no difference between a token that
nobody signed and one that somebody did, so nothing here may be believed before.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from moldau.security.oauthbearer import BearerIdentity, TokenRefused

UNSECURED = "none"
_PARTS = 3
_LIFETIME_S = 3600
_STRING_CLAIM = "unsecuredLoginStringClaim_"


@dataclass(frozen=True, slots=True)
class WebToken:
    """A token in its parts."""

    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    signed: bytes = field(repr=False)
    """What the signature is about."""
    signature: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRules:
    """What a token must say."""

    issuer: str | None = None
    """None: any."""
    audiences: tuple[str, ...] | None = None
    """Of which it must name one; None: any."""
    user_claim: str = "sub"
    scope_claim: str = "scope"
    required_scopes: tuple[str, ...] = ()
    has_issue_time: bool = True
    """Whether it must say when it was issued, and for what scope."""
    clock_skew_ms: int = 30_000


def read_token(text: str) -> WebToken:
    """The parts of a token, none of which is verified; TokenRefused if it is none."""
    parts = text.split(".")
    if len(parts) != _PARTS:
        raise TokenRefused("a token has three parts")
    header, claims = _object(parts[0]), _object(parts[1])
    return WebToken(header, claims, f"{parts[0]}.{parts[1]}".encode(), _decoded(parts[2]))


def check_claims(claims: Mapping[str, Any], rules: ClaimRules, *, now_ms: int) -> BearerIdentity:
    """Whom a token stands for, if it says all that it must."""
    user = claims.get(rules.user_claim)
    if not isinstance(user, str) or not user.strip():
        raise TokenRefused("it names no user")
    expires_ms = _time_ms(claims, "exp")
    if expires_ms is None or expires_ms <= now_ms - rules.clock_skew_ms:
        raise TokenRefused("it has expired, or never does")
    issued_ms = _time_ms(claims, "iat")
    if issued_ms is None and rules.has_issue_time:
        raise TokenRefused("it does not say when it was issued")
    if issued_ms is not None and issued_ms > now_ms + rules.clock_skew_ms:
        raise TokenRefused("it will be issued later")
    if issued_ms is not None and expires_ms <= issued_ms:
        raise TokenRefused("it expires before it is issued")
    not_before_ms = _time_ms(claims, "nbf")
    if not_before_ms is not None and not_before_ms > now_ms + rules.clock_skew_ms:
        raise TokenRefused("it is not valid yet")
    if rules.issuer is not None and claims.get("iss") != rules.issuer:
        raise TokenRefused("it is of another issuer")
    if rules.audiences is not None and not _texts(claims.get("aud")) & set(rules.audiences):
        raise TokenRefused("it is for another audience")
    _check_scopes(claims, rules)
    return BearerIdentity(user.strip(), expires_ms)


def _check_scopes(claims: Mapping[str, Any], rules: ClaimRules) -> None:
    claim = claims.get(rules.scope_claim)
    if claim is None and rules.has_issue_time:
        raise TokenRefused("it has no scope")
    scopes = set(claim.split()) if isinstance(claim, str) else _texts(claim)
    if not set(rules.required_scopes) <= scopes:
        wanted = " ".join(rules.required_scopes)
        raise TokenRefused("its scope is too small", "insufficient_scope", wanted)


def unsecured_token(options: Mapping[str, str], *, now_ms: int) -> str:
    """A token that nobody signed, as Kafka's login module makes it of its options."""
    claims: dict[str, object] = {
        name.removeprefix(_STRING_CLAIM): value
        for name, value in options.items()
        if name.startswith(_STRING_CLAIM)
    }
    claims |= {"iat": now_ms / 1000, "exp": now_ms / 1000 + _LIFETIME_S}
    parts = ({"alg": UNSECURED}, claims)
    return ".".join([*(_encoded(json.dumps(part).encode()) for part in parts), ""])


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(_decoded(text))
    except (ValueError, RecursionError):
        raise TokenRefused("a part of it is not JSON") from None
    if not isinstance(found, dict):
        raise TokenRefused("a part of it is no object")
    return found


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise TokenRefused("a part of it is not base64") from None


def _time_ms(claims: Mapping[str, Any], name: str) -> int | None:
    value = claims.get(name)
    if value is None:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value < 2**53:
        raise TokenRefused(f"{name} of it is no time")
    return int(value * 1000)


def _texts(value: object) -> set[str]:
    if isinstance(value, str):
        return {value}
    return {one for one in value if isinstance(one, str)} if isinstance(value, list) else set()
