"""Settings as nodes of ZooKeeper; with a real one in conformance."""

import pytest

from moldau.cli.config_entities.entity import Entity
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.znodes.configs import ZooKeeperConfigs
from moldau.coordination.layout.roots import PERSISTENT_PATHS, with_parents
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.tree import Create
from moldau.runtime.clock import SystemClock

TOPIC = [Entity("topics", "t")]


@pytest.fixture
async def tree() -> MemoryTree:
    tree = MemoryEnsemble(SystemClock()).connect()
    for path in (*with_parents(PERSISTENT_PATHS), "/brokers/topics/t"):
        await tree.create(Create(path))
    return tree


async def test_settings_are_changed_and_brokers_told(tree: MemoryTree) -> None:
    configs = ZooKeeperConfigs(tree)
    assert await configs.described(TOPIC) == "Configs for topic 't' are "
    await configs.alter(TOPIC, {"retention.ms": "5", "segment.ms": "6"}, [])
    await configs.alter(TOPIC, {}, ["segment.ms"])
    assert await configs.described(TOPIC) == "Configs for topic 't' are retention.ms=5"
    (_, last) = sorted(await tree.children("/config/changes"))
    node = await tree.get(f"/config/changes/{last}")
    assert node.data == b'{"version":2,"entity_path":"topics/t"}'


async def test_users_their_clients_and_defaults_have_nodes(tree: MemoryTree) -> None:
    configs = ZooKeeperConfigs(tree)
    both = [Entity("users", "u"), Entity("clients", "")]
    await configs.alter(both, {"request_percentage": "5"}, [])
    assert await tree.exists("/config/users/u/clients/<default>")
    expected = "Configs for user-principal 'u', default client-id are request_percentage=5"
    assert await configs.described(both) == expected


async def test_what_cannot_be_changed_is_refused(tree: MemoryTree) -> None:
    configs = ZooKeeperConfigs(tree)
    with pytest.raises(CommandFailed, match="Topic 'nope' does not exist"):
        await configs.alter([Entity("topics", "nope")], {"a": "1"}, [])
    with pytest.raises(CommandFailed, match=r"Invalid config\(s\): a"):
        await configs.alter(TOPIC, {}, ["a"])
    with pytest.raises(CommandFailed, match="must be named"):
        await configs.described([Entity("topics", None)])
