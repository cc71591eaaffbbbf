"""The rules of delegation tokens (KIP-48, KIP-373): who may renew which, and until when.

A token is valid until it expires; until its `max_ms` it can be renewed. Only its owner and its
renewers can do anything with it: super users, too, are strangers here, as in Kafka.
"""

import base64
import hmac
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from moldau.coordination.layout.tokens import TokenNode
from moldau.errors import ErrorCode, KafkaError
from moldau.security.principals import Principal


@dataclass(frozen=True, slots=True)
class TokenTimes:
    """How long tokens live."""

    max_lifetime_ms: int
    expiry_ms: int
    check_ms: int = 3_600_000
    """Between two looks for those that have expired."""


def new_token(
    token_id: str, owners: "TokenOwners", max_lifetime_ms: int, times: TokenTimes, *, now_ms: int
) -> TokenNode:
    """A token that begins to live."""
    asked_ms = times.max_lifetime_ms if max_lifetime_ms <= 0 else max_lifetime_ms
    max_ms = now_ms + min(asked_ms, times.max_lifetime_ms)
    return TokenNode(
        token_id=token_id,
        owner=str(owners.owner),
        requester=str(owners.requester),
        renewers=tuple(map(str, owners.renewers)),
        issued_ms=now_ms,
        expires_ms=min(max_ms, now_ms + times.expiry_ms),
        max_ms=max_ms,
    )


@dataclass(frozen=True, slots=True)
class TokenOwners:
    """Whose token it is, who asked for it, and who else may renew it."""

    owner: Principal
    requester: Principal
    renewers: Sequence[Principal]


class EndRule(Protocol):
    """How the end of a token is changed."""

    def __call__(
        self, token: TokenNode, period_ms: int, *, asker: Principal, now_ms: int
    ) -> TokenNode | None:
        """The token with its new end; None if it ends now."""


def renewed(
    token: TokenNode, period_ms: int, *, times: TokenTimes, asker: Principal, now_ms: int
) -> TokenNode:
    """The token with a later end."""
    _require_concerned(token, asker)
    return _ending_in(token, times.expiry_ms if period_ms < 0 else period_ms, now_ms)


def expired(token: TokenNode, period_ms: int, *, asker: Principal, now_ms: int) -> TokenNode | None:
    """The token with another end; None if it ends now."""
    _require_concerned(token, asker)
    return None if period_ms < 0 else _ending_in(token, period_ms, now_ms)


def _ending_in(token: TokenNode, period_ms: int, now_ms: int) -> TokenNode:
    if token.max_ms < now_ms or token.expires_ms < now_ms:
        raise KafkaError(ErrorCode.DELEGATION_TOKEN_EXPIRED)
    return replace(token, expires_ms=min(token.max_ms, now_ms + period_ms))


def is_over(token: TokenNode, *, now_ms: int) -> bool:
    """Whether a token is of no use any more."""
    return token.expires_ms <= now_ms or token.max_ms <= now_ms


def concerns(token: TokenNode, whom: Principal) -> bool:
    """Whether somebody owns or may renew a token."""
    text = str(whom)
    return text == token.owner or text in token.renewers


def is_asked_for(token: TokenNode, owners: Collection[Principal] | None) -> bool:
    """Whether a token concerns one of these; None are all."""
    return owners is None or any(concerns(token, one) for one in owners)


def token_id_of(uuid: bytes) -> str:
    """An id as Kafka writes its uuids: 22 characters."""
    return base64.urlsafe_b64encode(uuid).decode().rstrip("=")


def hmac_of(secret: str, token_id: str) -> bytes:
    """What proves a token: it can be computed by every broker, and is stored by none."""
    return hmac.digest(secret.encode(), token_id.encode(), "sha512")


def _require_concerned(token: TokenNode, asker: Principal) -> None:
    if not concerns(token, asker):
        raise KafkaError(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)
