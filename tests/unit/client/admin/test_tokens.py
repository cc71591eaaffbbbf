"""Delegation tokens."""

import pytest

from moldau.client.admin.tokens import DelegationToken
from moldau.errors import DelegationTokenAuthDisabled, DelegationTokenNotFound
from moldau.protocol.messages.create_delegation_token import CreateDelegationTokenResponse
from moldau.protocol.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenResponse,
)
from moldau.protocol.messages.expire_delegation_token import ExpireDelegationTokenResponse
from moldau.protocol.messages.renew_delegation_token import RenewDelegationTokenResponse
from unit.client.admin.answering import Answering, admin_of


def created(error_code: int = 0, requester: str = "root") -> CreateDelegationTokenResponse:
    return CreateDelegationTokenResponse(
        error_code=error_code,
        principal_type="User",
        principal_name="anna",
        token_requester_principal_type="User" if requester else "",
        token_requester_principal_name=requester,
        issue_timestamp_ms=1,
        expiry_timestamp_ms=2,
        max_timestamp_ms=3,
        token_id="id",
        hmac=b"secret",
        throttle_time_ms=0,
    )


TOKEN = DelegationToken("id", b"secret", "User:anna", "User:root", 1, 2, 3, ["User:ben"])


async def test_a_token_is_created_for_somebody_else() -> None:
    broker = Answering(CreateDelegationToken=lambda _: created())
    async with admin_of(broker) as admin:
        token = await admin.create_delegation_token(renewers=["User:ben"], owner="User:anna")
    assert token == TOKEN
    assert "secret" not in repr(token)
    assert token.password == "c2VjcmV0"
    (asked,) = broker.asked
    assert (asked.owner_principal_name, asked.renewers[0].principal_name) == ("anna", "ben")


async def test_old_brokers_do_not_say_who_asked() -> None:
    broker = Answering(CreateDelegationToken=lambda _: created(requester=""))
    broker.newest["CreateDelegationToken"] = 2
    async with admin_of(broker) as admin:
        assert (await admin.create_delegation_token()).requester == "User:anna"


async def test_tokens_may_be_disabled() -> None:
    async with admin_of(Answering(CreateDelegationToken=lambda _: created(61))) as admin:
        with pytest.raises(DelegationTokenAuthDisabled):
            await admin.create_delegation_token()


async def test_tokens_are_prolonged_and_ended() -> None:
    renewed = RenewDelegationTokenResponse(error_code=0, expiry_timestamp_ms=9, throttle_time_ms=0)
    gone = ExpireDelegationTokenResponse(error_code=62, expiry_timestamp_ms=0, throttle_time_ms=0)
    broker = Answering(RenewDelegationToken=lambda _: renewed, ExpireDelegationToken=lambda _: gone)
    async with admin_of(broker) as admin:
        assert await admin.renew_delegation_token(b"secret", period_ms=7) == 9
        with pytest.raises(DelegationTokenNotFound):
            await admin.expire_delegation_token(b"secret")
    assert (broker.asked[0].renew_period_ms, broker.asked[1].expiry_time_period_ms) == (7, -1)


async def test_tokens_are_shown_by_owner() -> None:
    found = DescribedDelegationToken(
        principal_type="User",
        principal_name="anna",
        token_requester_principal_type="User",
        token_requester_principal_name="root",
        issue_timestamp=1,
        expiry_timestamp=2,
        max_timestamp=3,
        token_id="id",
        hmac=b"secret",
        renewers=[DescribedDelegationTokenRenewer(principal_type="User", principal_name="ben")],
    )
    answer = DescribeDelegationTokenResponse(error_code=0, tokens=[found], throttle_time_ms=0)
    broker = Answering(DescribeDelegationToken=lambda _: answer)
    async with admin_of(broker) as admin:
        assert await admin.describe_delegation_tokens(["User:anna"]) == [TOKEN]
        assert await admin.describe_delegation_tokens() == [TOKEN]
        with pytest.raises(ValueError, match="written as User:anna"):
            await admin.describe_delegation_tokens(["anna"])
    assert broker.asked[0].owners[0].principal_name == "anna"
    assert broker.asked[1].owners is None
