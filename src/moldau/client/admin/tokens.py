"""Delegation tokens: passwords that a user gives to others for a while (KIP-48)."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field

from moldau.client.admin.area import AdminArea
from moldau.protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from moldau.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from moldau.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from moldau.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)

BY_DEFAULT = -1
_NOBODY = ":"


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """A token. Principals are texts as `User:anna`; times are in milliseconds since 1970."""

    token_id: str
    hmac: bytes = field(repr=False)
    owner: str
    requester: str
    issued_ms: int
    expires_ms: int
    max_ms: int
    renewers: list[str]

    @property
    def password(self) -> str:
        """What SCRAM takes for a password, with the token's id as user."""
        return base64.b64encode(self.hmac).decode()


class TokensArea(AdminArea):
    """The part of the Admin client for delegation tokens."""

    async def create_delegation_token(
        self,
        *,
        renewers: Iterable[str] = (),
        max_lifetime_ms: int = BY_DEFAULT,
        owner: str | None = None,
    ) -> DelegationToken:
        """A new token, of the requester or of `owner`."""
        renewing = list(renewers)
        owner_kind, owner_name = _principal(owner) if owner is not None else ("", "")
        request = CreateDelegationTokenRequest(
            owner_principal_type=owner_kind,
            owner_principal_name=owner_name,
            renewers=[
                CreatableRenewers(principal_type=kind, principal_name=name)
                for kind, name in map(_principal, renewing)
            ],
            max_lifetime_ms=max_lifetime_ms,
        )
        answer = await self._router.controller(request, CreateDelegationTokenResponse)
        owned_by = f"{answer.principal_type}:{answer.principal_name}"
        requested_by = (
            f"{answer.token_requester_principal_type}:{answer.token_requester_principal_name}"
        )
        return DelegationToken(
            answer.token_id,
            answer.hmac,
            owned_by,
            owned_by if requested_by == _NOBODY else requested_by,
            answer.issue_timestamp_ms,
            answer.expiry_timestamp_ms,
            answer.max_timestamp_ms,
            renewing,
        )

    async def renew_delegation_token(self, hmac: bytes, *, period_ms: int = BY_DEFAULT) -> int:
        """Let a token live longer; returns when it will expire."""
        request = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=period_ms)
        answer = await self._router.controller(request, RenewDelegationTokenResponse)
        return answer.expiry_timestamp_ms

    async def expire_delegation_token(self, hmac: bytes, *, period_ms: int = BY_DEFAULT) -> int:
        """Let a token end after a time, or at once; returns when it expires."""
        request = ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=period_ms)
        answer = await self._router.controller(request, ExpireDelegationTokenResponse)
        return answer.expiry_timestamp_ms

    async def describe_delegation_tokens(
        self, owners: Iterable[str] | None = None
    ) -> list[DelegationToken]:
        """The tokens of these owners, or of all, as far as one may see them."""
        wanted = None
        if owners is not None:
            wanted = [
                DescribeDelegationTokenOwner(principal_type=kind, principal_name=name)
                for kind, name in map(_principal, owners)
            ]
        request = DescribeDelegationTokenRequest(owners=wanted)
        answer = await self._router.anyone(request, DescribeDelegationTokenResponse)
        return [
            DelegationToken(
                each.token_id,
                each.hmac,
                f"{each.principal_type}:{each.principal_name}",
                f"{each.token_requester_principal_type}:{each.token_requester_principal_name}",
                each.issue_timestamp,
                each.expiry_timestamp,
                each.max_timestamp,
                [f"{who.principal_type}:{who.principal_name}" for who in each.renewers],
            )
            for each in answer.tokens
        ]


def _principal(text: str) -> tuple[str, str]:
    kind, colon, name = text.partition(":")
    if not colon or not kind or not name:
        raise ValueError(f"a principal is written as User:anna, not {text!r}")
    return kind, name
