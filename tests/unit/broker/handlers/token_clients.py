"""A broker with tokens, and clients that may ask for them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from moldau.broker.context import Client
from moldau.config.listeners import SecurityProtocol
from moldau.protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from moldau.security.principals import Principal
from unit.broker.world import World, broker_world


def known(name: str, *, is_by_token: bool = False) -> Client:
    principal = Principal("User", name)
    protocol = SecurityProtocol.SASL_PLAINTEXT
    return Client("PLAINTEXT", "10.0.0.9", "10.0.0.1", 9, protocol, principal, is_by_token)


@asynccontextmanager
async def world_with_tokens() -> AsyncIterator[World]:
    async with broker_world({"delegation.token.secret.key": "of all"}) as world:
        yield world


async def create(world: World, client: Client, **more: Any) -> Any:
    """A token of a client that ben may renew, unless said otherwise."""
    wanted = {
        "owner_principal_type": None,
        "owner_principal_name": None,
        "renewers": [CreatableRenewers(principal_type="User", principal_name="ben")],
        "max_lifetime_ms": -1,
        **more,
    }
    return await world.ask(CreateDelegationTokenRequest(**wanted), 3, client=client)
