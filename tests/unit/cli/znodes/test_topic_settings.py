"""Settings of topics in a ZooKeeper that is left for good."""

import pytest

from moldau.cli.znodes.topic_settings import read_topics, topics_in
from moldau.config.broker.startup import read_startup
from moldau.config.topic_listing import ListedTopic
from moldau.coordination.layout.configs import ConfigEntity, encode_config
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.tree import Create, NotAllowed
from moldau.errors import InvalidConfig
from unit.broker.world import SettableClock


async def tree_with(base: str, nodes: dict[str, bytes]) -> MemoryTree:
    tree = MemoryEnsemble(SettableClock()).connect()
    for path, data in nodes.items():
        parts = (base + path).split("/")
        for end in range(2, len(parts)):
            if await tree.exists("/".join(parts[:end])) is None:
                await tree.create(Create("/".join(parts[:end])))
        await tree.create(Create(base + path, data))
    return tree


@pytest.mark.parametrize("base", ["", "/kafka"])
async def test_topics_have_their_own_and_what_brokers_had_dynamically(base: str) -> None:
    nodes = {
        "/brokers/topics/orders": b"",
        "/brokers/topics/plain": b"",
        ConfigEntity.topic("orders").path: encode_config({"cleanup.policy": "compact"}),
        ConfigEntity.broker(None).path: encode_config(
            {"log.retention.ms": "5", "log.cleaner.threads": "2"}
        ),
        ConfigEntity.broker(3).path: encode_config({"message.max.bytes": "9"}),
    }
    found = await topics_in(await tree_with(base, nodes), base, 3)
    inherited = {"retention.ms": "5", "max.message.bytes": "9"}
    assert found == {
        "orders": ListedTopic({"cleanup.policy": "compact"}, inherited),
        "plain": ListedTopic({}, inherited),
    }


async def test_a_wrong_path_is_refused_and_not_made() -> None:
    tree = await tree_with("", {"/brokers/topics": b""})
    with pytest.raises(InvalidConfig, match=r"there is no node /kafka/brokers/topics"):
        await topics_in(tree, "/kafka", -1)
    assert await tree.exists("/kafka") is None
    with pytest.raises(InvalidConfig, match="/brokers/topics has no topics"):
        await topics_in(tree, "", -1)


async def test_a_node_that_is_not_understood_is_named() -> None:
    nodes = {"/brokers/topics/t": b"", ConfigEntity.topic("t").path: b"?"}
    with pytest.raises(InvalidConfig, match="failed to parse /config/topics/t"):
        await topics_in(await tree_with("", nodes), "", -1)


async def test_without_zookeeper_it_is_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moldau.cli.znodes.session._CONNECT_MS", 50)
    with pytest.raises(InvalidConfig, match=r"ZooKeeper at 127\.0\.0\.1:1: connection refused"):
        await read_topics("127.0.0.1:1/kafka", read_startup({"log.dirs": "/logs"}))


async def test_what_zookeeper_refuses_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    async def lost(*_: object) -> MemoryTree:
        raise NotAllowed("/config/topics/t")

    monkeypatch.setattr("moldau.cli.znodes.topic_settings.open_session", lost)
    with pytest.raises(InvalidConfig, match="the login may not touch node /config/topics/t"):
        await read_topics("127.0.0.1:1", read_startup({"log.dirs": "/logs"}))
