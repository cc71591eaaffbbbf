"""Settings as nodes of ZooKeeper; with a real one in conformance."""

import base64

import pytest

from moldau.cli.config_entities.entity import Entity
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.znodes.configs import ZooKeeperConfigs
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.runtime.clock import SystemClock
from moldau.security.scram import ScramSecret, salted_password

TOPIC = [Entity("topics", "m")]


async def test_settings_are_changed_and_brokers_told(moved: MemoryTree) -> None:
    configs = ZooKeeperConfigs(moved)
    assert await configs.described(TOPIC) == ["Configs for topic 'm' are "]
    await configs.alter(TOPIC, {"retention.ms": "5", "segment.ms": "6"}, [])
    await configs.alter(TOPIC, {}, ["segment.ms"])
    assert await configs.described(TOPIC) == ["Configs for topic 'm' are retention.ms=5"]
    (_, last) = sorted(await moved.children("/config/changes"))
    node = await moved.get(f"/config/changes/{last}")
    assert node.data == b'{"version":2,"entity_path":"topics/m"}'


async def test_users_their_clients_and_defaults_have_nodes(moved: MemoryTree) -> None:
    configs = ZooKeeperConfigs(moved)
    both = [Entity("users", "u"), Entity("clients", "")]
    await configs.alter(both, {"request_percentage": "5"}, [])
    assert await moved.exists("/config/users/u/clients/<default>")
    expected = "Configs for user-principal 'u', default client-id are request_percentage=5"
    assert await configs.described(both) == [expected]


async def test_what_cannot_be_changed_is_refused(moved: MemoryTree) -> None:
    configs = ZooKeeperConfigs(moved)
    with pytest.raises(CommandFailed, match='Topic "nope" does not exist'):
        await configs.alter([Entity("topics", "nope")], {"a": "1"}, [])
    with pytest.raises(CommandFailed, match=r"Invalid config\(s\): a"):
        await configs.alter(TOPIC, {}, ["a"])
    with pytest.raises(CommandFailed, match="must be named"):
        await configs.alter([Entity("topics", None)], {"a": "1"}, [])
    with pytest.raises(CommandFailed, match="when broker 0 is running"):
        await configs.alter([Entity("brokers", "0")], {"a": "1"}, [])


async def test_all_of_a_type_are_described(moved: MemoryTree) -> None:
    configs = ZooKeeperConfigs(moved)
    await configs.alter([Entity("users", "u"), Entity("clients", "c")], {"a": "1"}, [])
    await configs.alter([Entity("users", "")], {"a": "2"}, [])
    every = [Entity("users", None)]
    assert await configs.described(every) == ["Configs for default user-principal are a=2"]
    assert await configs.described([*every, Entity("clients", None)]) == [
        "Configs for user-principal 'u', client-id 'c' are a=1"
    ]
    await configs.alter([Entity("brokers", "7")], {"a": "3"}, [])
    brokers = await configs.described([Entity("brokers", None)])
    assert brokers == ["Configs for brokers '7' are a=3"]
    with pytest.raises(CommandFailed, match="no settings of ips"):
        await configs.described([Entity("ips", None)])


async def test_a_password_is_kept_so_that_nobody_can_log_in_with_it(moved: MemoryTree) -> None:
    configs = ZooKeeperConfigs(moved)
    user = [Entity("users", "u")]
    await configs.alter(user, {"SCRAM-SHA-256": "iterations=4097,password=secret"}, [])
    (line,) = await configs.described(user)
    parts = dict(each.split("=", 1) for each in line.partition("SCRAM-SHA-256=")[2].split(","))
    assert parts.keys() == {"salt", "stored_key", "server_key", "iterations"}
    assert parts["iterations"] == "4097"
    salted = salted_password(
        "SCRAM-SHA-256", "secret", salt=base64.b64decode(parts["salt"]), iterations=4097
    )
    secret = ScramSecret.of_salted("SCRAM-SHA-256", salted, salt=b"", iterations=4097)
    assert base64.b64decode(parts["stored_key"]) == secret.stored_key


async def test_the_first_user_can_be_made_before_the_first_broker() -> None:
    tree = MemoryEnsemble(SystemClock()).connect()
    await ZooKeeperConfigs(tree).alter(
        [Entity("users", "admin")], {"SCRAM-SHA-256": "password=secret"}, []
    )
    assert await tree.exists("/config/users/admin")
    assert len(await tree.children("/config/changes")) == 1
