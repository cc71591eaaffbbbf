"""CreateDelegationToken."""

import pytest

from moldau.broker.access.authorizer import AllowEveryone
from moldau.errors import ErrorCode
from moldau.protocol.messages.create_delegation_token import CreatableRenewers
from unit.broker.handlers.token_clients import create, known, world_with_tokens
from unit.broker.world import CLIENT, START_MS, World

DAY_MS = 86_400_000
OTHER_KIND = [CreatableRenewers(principal_type="Group", principal_name="g")]
OWNER = {"owner_principal_type": "User", "owner_principal_name": "carl"}


async def test_a_token_comes_with_its_proof() -> None:
    async with world_with_tokens() as world:
        made = await create(world, known("anna"))
        assert made.error_code == 0
        assert (made.principal_name, made.token_requester_principal_name) == ("anna", "anna")
        assert made.issue_timestamp_ms == START_MS
        assert made.expiry_timestamp_ms == START_MS + DAY_MS
        assert made.max_timestamp_ms == START_MS + 7 * DAY_MS
        assert (len(made.token_id), len(made.hmac)) == (22, 64)


async def test_a_token_may_be_asked_for_somebody_else() -> None:
    async with world_with_tokens() as world:
        made = await create(world, known("anna"), **OWNER)
        assert (made.principal_name, made.token_requester_principal_name) == ("carl", "anna")


class Nobody(AllowEveryone):
    """Allows nothing."""

    def may(self, *_: object, **__: object) -> bool:
        return False


async def test_the_checks_come_in_kafka_s_order(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.broker, "authorizer", Nobody())
    wrong = {"renewers": OTHER_KIND, **OWNER}
    codes = [
        (await create(world, CLIENT, **wrong)).error_code,
        (await create(world, known("anna", is_by_token=True), **wrong)).error_code,
        (await create(world, known("anna"), **wrong)).error_code,
        (await create(world, known("anna"), renewers=OTHER_KIND)).error_code,
        (await create(world, known("anna"))).error_code,
    ]
    assert codes == [
        ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
        ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
        ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
        ErrorCode.INVALID_PRINCIPAL_TYPE,
        ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED,
    ]
