"""ScramUsers' secrets: beside their quotas in the tree, and at hand."""

import pytest

from moldau.broker.login.users import ScramUsers, SecretChange
from moldau.coordination.layout.configs import ConfigEntity
from moldau.coordination.tree import Create
from moldau.errors import ErrorCode, KafkaError
from moldau.security.scram import ScramSecret
from unit.broker.world import World, broker_world

SHA = "SCRAM-SHA-256"
SECRET = ScramSecret(b"salt", 4096, b"stored", b"server")
QUOTA = {"producer_byte_rate": "1000"}


async def users_of(world: World) -> ScramUsers:
    users = ScramUsers(world.broker.configs)
    await users.load()
    return users


async def test_a_secret_is_known_as_soon_as_it_is_set() -> None:
    async with broker_world() as world:
        users = await users_of(world)
        assert users.find(SHA, "anna") is None
        await users.alter("anna", [SecretChange(SHA, SECRET)])
        assert users.find(SHA, "anna") == SECRET
        assert users.find("SCRAM-SHA-512", "anna") is None
        assert await users.described("anna") == {SHA: SECRET}
        node = await world.tree.get("/config/users/anna")
        assert node.data == (
            b'{"version":1,"config":{"SCRAM-SHA-256":'
            b'"salt=c2FsdA==,stored_key=c3RvcmVk,server_key=c2VydmVy,iterations=4096"}}'
        )
        (change, *_) = await world.tree.children("/config/changes")
        assert b"users/anna" in (await world.tree.get(f"/config/changes/{change}")).data


async def test_a_secret_is_loaded_at_the_next_start_and_gone_when_taken_away() -> None:
    async with broker_world() as world:
        await world.broker.users.alter("a b", [SecretChange(SHA, SECRET)])
        assert world.broker.users.find(SHA, "a b") is None, "nothing is kept without SCRAM"
        users = await users_of(world)
        assert users.find(SHA, "a b") == SECRET
        assert await users.names() == ["a b"]
        await users.alter("a b", [SecretChange(SHA, None)])
        assert users.find(SHA, "a b") is None


async def test_iterations_are_counted_of_those_who_can_log_in() -> None:
    async with broker_world() as world:
        users = await users_of(world)
        for name, iterations in (("a", 4096), ("b", 8192), ("c", 8192), ("weak", 4095)):
            secret = ScramSecret(b"salt", iterations, b"stored", b"server")
            await users.alter(name, [SecretChange(SHA, secret)])
        assert users.find(SHA, "weak") is None
        assert users.iterations(SHA) == {4096: 1, 8192: 2}
        await users.alter("a", [SecretChange(SHA, None)])
        await users.alter("b", [SecretChange(SHA, SECRET)])
        assert users.iterations(SHA) == {4096: 1, 8192: 1}
        assert users.iterations("SCRAM-SHA-512") == {}


async def test_quotas_of_the_same_user_stay() -> None:
    async with broker_world() as world:
        users = await users_of(world)
        entity = ConfigEntity("users", "anna")
        await world.broker.configs.alter(entity, lambda _: QUOTA)
        await users.alter("anna", [SecretChange(SHA, SECRET)])
        await users.alter("anna", [SecretChange(SHA, None)])
        assert await world.broker.configs.read(entity) == QUOTA


async def test_all_changes_are_made_or_none() -> None:
    async with broker_world() as world:
        users = await users_of(world)
        with pytest.raises(KafkaError) as caught:
            await users.alter(
                "anna", [SecretChange(SHA, SECRET), SecretChange("SCRAM-SHA-512", None)]
            )
        assert caught.value.code is ErrorCode.RESOURCE_NOT_FOUND
        assert caught.value.message == "Attempt to delete a user credential that does not exist"
        assert await users.described("anna") == {}


@pytest.mark.parametrize(
    "data",
    [
        b"rubbish",
        b'{"version":1,"config":{"SCRAM-SHA-256":"rubbish"}}',
        b'{"version":1,"config":{"SCRAM-SHA-256":"salt=,stored_key=,server_key=,iterations=9"}}',
    ],
)
async def test_rubbish_lets_nobody_in(data: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with broker_world() as world:
        await world.tree.create(Create("/config/users/anna", data))
        users = await users_of(world)
        assert users.find(SHA, "anna") is None
        assert "stored_key" not in caplog.text
