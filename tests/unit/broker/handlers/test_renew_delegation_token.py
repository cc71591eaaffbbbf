"""RenewDelegationToken; the rules are those of broker/login/token_rules.py."""

from typing import Any

from moldau.broker.context import Client
from moldau.errors import ErrorCode
from moldau.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from unit.broker.handlers.token_clients import create, known, world_with_tokens
from unit.broker.world import CLIENT, START_MS, World


async def renew(world: World, hmac: bytes, client: Client, period_ms: int = 5000) -> Any:
    request = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=period_ms)
    return await world.ask(request, 2, client=client)


async def test_owner_and_renewer_may_and_others_not() -> None:
    async with world_with_tokens() as world:
        token = await create(world, known("anna"))
        for name in ("anna", "ben"):
            answer = await renew(world, token.hmac, known(name))
            assert (answer.error_code, answer.expiry_timestamp_ms) == (0, START_MS + 5000)
        for client, hmac, code in (
            (CLIENT, b"?", ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
            (known("anna"), b"?", ErrorCode.DELEGATION_TOKEN_NOT_FOUND),
            (known("eve"), token.hmac, ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH),
        ):
            refused = await renew(world, hmac, client)
            assert (refused.error_code, refused.expiry_timestamp_ms) == (code, -1)
        world.clock.time_ms += 5001
        late = await renew(world, token.hmac, known("anna"))
        assert late.error_code == ErrorCode.DELEGATION_TOKEN_EXPIRED


async def test_without_tokens_there_is_nothing_to_do(world: World) -> None:
    answer = await renew(world, b"?", known("anna"))
    assert answer.error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
