"""DescribeDelegationToken."""

from typing import Any

import pytest

from moldau.broker.access.authorizer import AllowEveryone
from moldau.broker.context import Client
from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from moldau.security.acls import Operation, ResourceType
from unit.broker.handlers.token_clients import create, known, world_with_tokens
from unit.broker.world import CLIENT, World


class Strict(AllowEveryone):
    """Allows one thing."""

    def __init__(self, *allowed: object) -> None:
        self.allowed = allowed

    def may(self, *asked: object, **_: object) -> bool:
        return asked[1:] == self.allowed


async def describe(world: World, client: Client, *owners: str, every: bool = False) -> Any:
    named = [DescribeDelegationTokenOwner(principal_type="User", principal_name=o) for o in owners]
    request = DescribeDelegationTokenRequest(owners=None if every else named)
    return await world.ask(request, 3, client=client)


async def test_one_sees_what_concerns_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world_with_tokens() as world:
        token = await create(world, known("anna"))
        await create(world, known("carl"), renewers=[])
        monkeypatch.setattr(world.broker, "authorizer", Strict())

        async def seen(name: str, *owners: str, every: bool = False) -> list[str]:
            answer = await describe(world, known(name), *owners, every=every)
            assert answer.error_code == 0
            return [one.principal_name for one in answer.tokens]

        assert await seen("anna", every=True) == ["anna"]
        assert await seen("ben", every=True) == ["anna"]
        assert await seen("eve", every=True) == []
        assert await seen("anna") == [], "no owner has no token"
        assert await seen("anna", "carl") == []
        (one,) = (await describe(world, known("ben"), "ben")).tokens
        assert (one.token_id, one.hmac) == (token.token_id, token.hmac)
        assert [renewer.principal_name for renewer in one.renewers] == ["ben"]
        by_id = Strict(Operation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id)
        monkeypatch.setattr(world.broker, "authorizer", by_id)
        assert await seen("eve", every=True) == ["anna"]
        by_owner = Strict(Operation.DESCRIBE_TOKENS, ResourceType.USER, "User:carl")
        monkeypatch.setattr(world.broker, "authorizer", by_owner)
        assert await seen("eve", every=True) == ["carl"]


async def test_strangers_are_refused_before_it_is_said_that_there_are_none(world: World) -> None:
    refused = await describe(world, CLIENT)
    assert refused.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    refused = await describe(world, known("anna"))
    assert refused.error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
