"""Dynamic settings: written with a notification, applied by everyone who reads it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from moldau.broker.settings.configs import Configs
from moldau.broker.settings.topic_configs import TopicConfigs
from moldau.config.effective import BrokerLayers
from moldau.config.topic import TopicConfig
from moldau.coordination.layout import configs as config_nodes
from moldau.coordination.layout.configs import ConfigEntity
from moldau.coordination.layout.roots import PERSISTENT_PATHS, with_parents
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.notifications import NOTIFICATION_KEPT_MS
from moldau.coordination.tree import Create
from moldau.errors import KafkaError
from unit.broker.world import SettableClock


class Following:
    """A broker's settings, with what its listeners hear."""

    def __init__(self, tree: MemoryTree, broker_id: int = 1) -> None:
        self.topics = TopicConfigs(tree, TopicConfig())
        self.configs = Configs(tree, broker_id, {}, topics=self.topics)
        self.heard: asyncio.Queue[str] = asyncio.Queue()
        self.configs.listen(self.heard.put_nowait, self._broker_changed)

    def _broker_changed(self, layers: BrokerLayers) -> None:
        self.heard.put_nowait("broker")


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
async def tree(clock: SettableClock) -> MemoryTree:
    tree = MemoryEnsemble(clock).connect()
    for path in with_parents(PERSISTENT_PATHS):
        await tree.create(Create(path))
    return tree


@asynccontextmanager
async def following(tree: MemoryTree, broker_id: int = 1) -> AsyncIterator[Following]:
    found = Following(tree, broker_id)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(found.configs.run())
        yield found
        running.cancel()


async def test_settings_of_a_topic_reach_other_brokers(tree: MemoryTree) -> None:
    async with following(tree, 2) as other:
        await Following(tree).configs.alter(
            ConfigEntity.topic("t"), lambda _: {"retention.ms": "5"}
        )
        assert await other.heard.get() == "t"
        assert other.topics.of("t").retention_ms == 5


async def test_settings_for_all_brokers_reach_all(tree: MemoryTree) -> None:
    async with following(tree, 2) as other:
        await Following(tree).configs.alter(
            ConfigEntity.broker(None), lambda _: {"log.retention.ms": "5"}
        )
        assert await other.heard.get() == "broker"
        assert other.configs.layers.config.log.log_retention_ms == 5
        assert other.topics.of("t").retention_ms == 5


async def test_settings_of_one_broker_do_not_concern_another(tree: MemoryTree) -> None:
    async with following(tree, 2) as other:
        first = Following(tree).configs
        await first.alter(ConfigEntity.broker(1), lambda _: {"log.retention.ms": "5"})
        await first.alter(ConfigEntity.topic("t"), lambda _: {})
        assert await other.heard.get() == "t"
        assert other.configs.layers.config.log.log_retention_ms is None


async def test_what_was_set_before_the_start_counts(tree: MemoryTree) -> None:
    await Following(tree).configs.alter(
        ConfigEntity.broker(None), lambda _: {"log.retention.ms": "5"}
    )
    later = Following(tree)
    await later.configs.load()
    assert later.topics.of("t").retention_ms == 5


async def test_a_setting_that_cannot_be_is_left_alone(tree: MemoryTree) -> None:
    found = Following(tree)
    await found.configs.alter(ConfigEntity.broker(None), lambda _: {"log.retention.ms": "x"})
    await found.configs.load()
    assert found.configs.layers.cluster == {}


@pytest.mark.parametrize("data", [b"?", config_nodes.encode_config({"log.retention.ms": "x"})])
async def test_nothing_is_deleted_while_the_brokers_settings_are_not_understood(
    tree: MemoryTree, data: bytes
) -> None:
    brokers = ConfigEntity.broker(None)
    await tree.create(Create(brokers.path, data))
    await tree.create(Create(ConfigEntity.topic("t").path))
    async with following(tree) as found:
        await found.topics.load()
        await found.configs.load()
        assert found.topics.of("t").cleanup_policy == ()
        await Following(tree, 2).configs.alter(brokers, lambda _: {})
        assert await found.heard.get() == "broker"
        assert found.topics.of("t") == TopicConfig()


async def test_a_node_that_is_not_understood_counts_as_none(tree: MemoryTree) -> None:
    await tree.create(Create(ConfigEntity.topic("t").path, b"no JSON"))
    assert await Following(tree).configs.read(ConfigEntity.topic("t")) == {}


async def test_a_notification_that_is_not_understood_is_passed_over(tree: MemoryTree) -> None:
    await tree.create(Create(config_nodes.CHANGE_PREFIX, b"no JSON", is_sequential=True))
    await tree.create(Create(f"{config_nodes.CHANGES_PATH}/no_number"))
    await Following(tree).configs.alter(ConfigEntity.topic("t"), lambda _: {})
    async with following(tree, 2) as other:
        assert await other.heard.get() == "t"


async def test_old_notifications_are_removed(tree: MemoryTree, clock: SettableClock) -> None:
    writer = Following(tree).configs
    await writer.alter(ConfigEntity.topic("old"), lambda _: {})
    clock.time_ms += NOTIFICATION_KEPT_MS + 1
    await writer.alter(ConfigEntity.topic("new"), lambda _: {})
    async with following(tree, 2) as other:
        assert [await other.heard.get(), await other.heard.get()] == ["old", "new"]
    assert len(await tree.children(config_nodes.CHANGES_PATH)) == 1


async def test_a_users_client_has_a_node_below_the_user(tree: MemoryTree) -> None:
    configs = Following(tree).configs
    entity = ConfigEntity.user_client("alice", "app")
    await configs.alter(entity, lambda _: {"producer_byte_rate": "1"})
    assert await configs.read(entity) == {"producer_byte_rate": "1"}
    assert await configs.children("/config/users/alice/clients") == ["app"]
    assert await configs.children("/config/users/bob/clients") == []


async def test_settings_that_do_not_fit_together_are_refused(tree: MemoryTree) -> None:
    configs = Following(tree).configs
    configs.check_broker(1, {"log.retention.ms": "5"})
    with pytest.raises(KafkaError):
        configs.check_broker(None, {"broker.id": "5"})


async def test_topics_without_settings_are_described_once_for_all(tree: MemoryTree) -> None:
    configs = Following(tree).configs
    described = configs.describe_topic({})
    assert configs.describe_topic({}) is described
    await configs.alter(ConfigEntity.broker(None), lambda _: {"log.retention.ms": "5"})
    values = {entry.name: entry.value for entry in configs.describe_topic({})}
    assert values["retention.ms"] == "5"


async def test_two_who_change_settings_at_once_do_not_undo_each_other(tree: MemoryTree) -> None:
    configs = Following(tree).configs
    entity = ConfigEntity.topic("t")
    names = ["retention.ms", "segment.ms", "flush.ms"]

    async def add(name: str) -> None:
        await configs.alter(entity, lambda current: {**current, name: "5"})

    await asyncio.gather(*map(add, names))
    assert sorted(await configs.read(entity)) == sorted(names)
