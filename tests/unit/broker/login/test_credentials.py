"""What is known of users, tokens and strangers."""

from moldau.broker.login.credentials import ScramCredentials, find_login_key
from moldau.broker.login.identity import Identity
from moldau.broker.login.token_rules import TokenOwners
from moldau.broker.login.users import SecretChange
from moldau.coordination.memory import MemoryEnsemble
from moldau.security.principals import Principal
from moldau.security.scram import Claim, ScramSecret
from unit.broker.world import SettableClock, broker_world

SHA = "SCRAM-SHA-256"
SECRET = ScramSecret(b"salt", 8192, b"stored", b"server")
ANNA = Principal("User", "anna")


async def test_users_are_known_and_strangers_seem_to_be() -> None:
    async with broker_world() as world:
        broker = world.broker
        await broker.users.load()
        await broker.users.alter("anna", [SecretChange(SHA, SECRET)])
        credentials = ScramCredentials(broker.users, broker.tokens, b"key")
        assert await credentials.find(SHA, Claim("anna", False)) == (SECRET, Identity("anna"))
        stranger = await credentials.find(SHA, Claim("eve", False))
        assert stranger.secret == ScramSecret.of_nobody(SHA, "eve", b"key", {8192: 1})
        token = await credentials.find(SHA, Claim("anna", True))
        assert token.secret == ScramSecret.of_nobody(SHA, "anna", b"key"), "tokens are off"


async def test_a_token_stands_for_its_owner_until_it_expires() -> None:
    async with broker_world({"delegation.token.secret.key": "of all"}) as world:
        broker = world.broker
        made = await broker.tokens.create(TokenOwners(ANNA, ANNA, []), 5000)
        credentials = ScramCredentials(broker.users, broker.tokens, b"key")
        found = await credentials.find(SHA, Claim(made.token_id, True))
        assert found.identity == Identity("anna", True, made.expires_ms)
        assert found.secret.iterations == 4096
        assert found.secret.salt == ScramSecret.of_nobody(SHA, made.token_id, b"key").salt
        world.clock.time_ms += 5000
        late = await credentials.find(SHA, Claim(made.token_id, True))
        assert late.secret == ScramSecret.of_nobody(SHA, made.token_id, b"key")


async def test_the_key_for_strangers_is_one_for_the_cluster_and_stays() -> None:
    tree = MemoryEnsemble(SettableClock()).connect()
    assert await find_login_key(tree, b"first") == b"first"
    assert await find_login_key(tree, b"second") == b"first"
