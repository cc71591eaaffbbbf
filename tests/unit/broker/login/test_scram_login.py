"""SCRAM at the broker."""

import pytest

from moldau.broker.login.identity import Identity
from moldau.broker.login.scram_login import Known, ScramMechanism
from moldau.errors import SaslAuthenticationFailed
from moldau.security.scram import MECHANISMS, Claim, ScramClient, ScramSecret

OWNER = Identity("anna", is_by_token=True, expires_at_ms=5)


async def find(mechanism: str, claim: Claim) -> Known:
    if claim.user == "anna":
        secret = ScramSecret.of_password(mechanism, "sesam", salt=b"salt", iterations=4096)
        return Known(secret, OWNER if claim.is_token else Identity("anna"))
    return Known(ScramSecret.of_nobody(mechanism, claim.user, b"key"), Identity(claim.user))


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(("is_token", "identity"), [(False, Identity("anna")), (True, OWNER)])
async def test_who_proves_the_password_is_let_in(
    mechanism: str, identity: Identity, *, is_token: bool
) -> None:
    exchange = ScramMechanism(mechanism, find, new_nonce=lambda: "server").begin()
    client = ScramClient(mechanism, "anna", "sesam", "client", is_token=is_token)
    proof = client.answer(await exchange.answer(client.begin()))
    assert proof is not None
    assert client.answer(await exchange.answer(proof)) is None
    assert exchange.identity == identity
    with pytest.raises(SaslAuthenticationFailed, match="over"):
        await exchange.answer(proof)


@pytest.mark.parametrize(("user", "password"), [("anna", "wrong"), ("nobody", "sesam")])
async def test_others_fail_at_the_end_and_are_not_told_why(user: str, password: str) -> None:
    exchange = ScramMechanism("SCRAM-SHA-256", find, new_nonce=lambda: "server").begin()
    client = ScramClient("SCRAM-SHA-256", user, password, "client")
    proof = client.answer(await exchange.answer(client.begin()))
    assert proof is not None
    with pytest.raises(SaslAuthenticationFailed):
        await exchange.answer(proof)
    assert not exchange.shows_reasons
    assert exchange.identity is None
