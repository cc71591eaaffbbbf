"""Validates the bearer tokens of a listener."""

from collections.abc import Callable
from typing import Protocol

from moldau.runtime.clock import Clock
from moldau.security.oauthbearer import BearerIdentity, TokenRefused, Validate
from moldau.security.web_keys import WebKey
from moldau.security.web_tokens import UNSECURED, ClaimRules, WebToken, check_claims, read_token


class FindKey(Protocol):
    """Where keys are."""

    def find(self, key_id: object) -> WebKey | None:
        """A key by its id."""


def validator(rules: ClaimRules, keys: FindKey | None, clock: Clock) -> Validate:
    """What says whom a token stands for; without keys it believes every token."""
    verify = _require_unsigned if keys is None else _verifier(keys)

    def validate(text: str) -> BearerIdentity:
        token = read_token(text)
        verify(token)
        return check_claims(token.claims, rules, now_ms=clock.now_ms())

    return validate


def _require_unsigned(token: WebToken) -> None:
    """A signature that is not looked at must not be taken for one that was."""
    if token.header.get("alg") != UNSECURED or token.signature:
        raise TokenRefused("it is signed, and this listener has no keys")


def _verifier(keys: FindKey) -> Callable[[WebToken], None]:
    def verify(token: WebToken) -> None:
        key = keys.find(token.header.get("kid"))
        if key is None:
            raise TokenRefused("its key is not known")
        key.verify(token)

    return verify
