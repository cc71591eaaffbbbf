"""Delegation tokens in the tree, as all brokers know them."""

import asyncio
import base64

import pytest

from moldau.broker.login.token_rules import TokenOwners, TokenTimes
from moldau.broker.login.tokens import Tokens
from moldau.coordination.memory import MemoryEnsemble
from moldau.coordination.tree import Create
from moldau.errors import ErrorCode, KafkaError
from moldau.security.principals import Principal
from moldau.security.scram import ScramClient, ScramServer
from unit.broker.world import START_MS, CountingRandom, SettableClock
from unit.waiting import until

ANNA, BEN = (Principal("User", name) for name in ("anna", "ben"))
OWNERS = TokenOwners(ANNA, ANNA, [BEN])
TIMES = TokenTimes(10_000, 1000, check_ms=1)


class Cluster:
    """Brokers that share a tree."""

    def __init__(self, secret: str | None = "of all") -> None:
        self.clock = SettableClock()
        self.ensemble = MemoryEnsemble(self.clock)
        self.random = CountingRandom()
        self.secret = secret

    async def broker(self) -> Tokens:
        tokens = Tokens(
            self.ensemble.connect(),
            self.secret,
            TIMES,
            clock=self.clock,
            new_uuid=self.random.uuid,
        )
        await tokens.load()
        return tokens


async def test_a_token_is_a_node_as_kafka_has_it_and_its_proof_is_not_in_it() -> None:
    cluster = Cluster()
    tokens = await cluster.broker()
    token = await tokens.create(OWNERS, -1)
    tree = cluster.ensemble.connect()
    data = (await tree.get(f"/delegation_token/tokens/{token.token_id}")).data
    issued, expires, ends = START_MS, START_MS + 1000, START_MS + 10_000
    expected = (
        f'{{"issueTimestamp":{issued},"renewers":["User%3Aben"],'
        f'"tokenRequester":"User%3Aanna","tokenId":"{token.token_id}","owner":"User%3Aanna",'
        f'"expiryTimestamp":{expires},"maxTimestamp":{ends},"version":3}}'
    )
    assert data == expected.encode()
    (change,) = await tree.children("/delegation_token/token_changes")
    assert change == "token_change_0000000000"
    noted = await tree.get(f"/delegation_token/token_changes/{change}")
    assert noted.data == token.token_id.encode()


async def test_other_brokers_learn_of_changes() -> None:
    cluster = Cluster()
    one, other = await cluster.broker(), await cluster.broker()
    following = asyncio.create_task(other.run())
    token = await one.create(OWNERS, -1)
    await until(lambda: other.find(token.token_id))
    proof = one.hmac_of(token)
    renewed_ms = await one.renew(proof, 5000, BEN)
    assert renewed_ms == START_MS + 5000
    await until(lambda: [each.expires_ms for each in other.all()] == [renewed_ms])
    assert await other.expire(proof, -1, ANNA) == START_MS
    assert not other.all()
    following.cancel()
    with pytest.raises(KafkaError) as caught:
        await one.renew(proof, 5, ANNA)
    assert caught.value.code is ErrorCode.DELEGATION_TOKEN_NOT_FOUND


async def test_an_unknown_proof_is_that_of_no_token() -> None:
    tokens = await Cluster().broker()
    token = await tokens.create(OWNERS, -1)
    for proof in (b"", tokens.hmac_of(token)[:-1], b"x" * 64):
        with pytest.raises(KafkaError) as caught:
            await tokens.expire(proof, -1, ANNA)
        assert caught.value.code is ErrorCode.DELEGATION_TOKEN_NOT_FOUND


async def test_without_a_secret_there_are_no_tokens() -> None:
    tokens = await Cluster(secret=None).broker()
    await tokens.run()
    for work in (
        tokens.create(OWNERS, -1),
        tokens.renew(b"", 1, ANNA),
        tokens.expire(b"", 1, ANNA),
    ):
        with pytest.raises(KafkaError) as caught:
            await work
        assert caught.value.code is ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED


async def test_an_expired_token_is_not_found_and_removed_in_the_end() -> None:
    cluster = Cluster()
    tokens = await cluster.broker()
    token = await tokens.create(OWNERS, -1)
    cluster.clock.time_ms += 1000
    assert tokens.find(token.token_id) is None
    assert tokens.all()
    await tokens.remove_expired()
    assert not tokens.all()
    assert await cluster.ensemble.connect().children("/delegation_token/tokens") == []


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
async def test_the_proof_is_the_password_of_scram(mechanism: str) -> None:
    tokens = await Cluster().broker()
    token = await tokens.create(OWNERS, -1)
    secret = await tokens.scram_secret(mechanism, token, b"salt")
    assert await tokens.scram_secret(mechanism, token, b"other") is secret, "made once"
    password = base64.b64encode(tokens.hmac_of(token)).decode()
    client = ScramClient(mechanism, token.token_id, password, "client", is_token=True)
    server = ScramServer(mechanism, "server")
    server.read_claim(client.begin())
    proof = client.answer(server.challenge(secret))
    assert proof is not None
    server.verify(proof)
    await tokens.expire(tokens.hmac_of(token), -1, ANNA)
    assert await tokens.scram_secret(mechanism, token, b"other") is not secret


async def test_rubbish_in_the_tree_is_no_token(caplog: pytest.LogCaptureFixture) -> None:
    cluster = Cluster()
    tokens = await cluster.broker()
    tree = cluster.ensemble.connect()
    for number, data in enumerate((b"", b"{}", b"rubbish", b"\xff")):
        await tree.create(Create(f"/delegation_token/tokens/{number}", data))
    await tokens.load()
    assert not tokens.all()
    assert "Failed to parse" in caplog.text


async def test_only_the_controller_cleans_up() -> None:
    cluster = Cluster()
    tokens = await cluster.broker()
    await tokens.create(OWNERS, -1)
    cluster.clock.time_ms += 1000
    is_controller = False
    asked = 0

    def ask() -> bool:
        nonlocal asked
        asked += 1
        return is_controller

    cleaning = asyncio.create_task(tokens.clean(ask))
    await until(lambda: asked > 2)
    assert tokens.all()
    is_controller = True
    await until(lambda: not tokens.all())
    cleaning.cancel()
