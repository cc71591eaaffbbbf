"""Settings of topics."""

import pytest

from moldau.broker.settings.topic_configs import TopicConfigs
from moldau.config.topic import TopicConfig
from moldau.coordination.layout.configs import ConfigEntity, encode_config
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.tree import Create
from unit.broker.world import SettableClock

DEFAULTS = TopicConfig(retention_ms=5)


async def tree_with(**topics: bytes) -> MemoryTree:
    tree = MemoryEnsemble(SettableClock()).connect()
    for path in ("/config", "/config/topics", "/brokers", "/brokers/topics"):
        await tree.create(Create(path))
    for name, data in topics.items():
        await tree.create(Create(ConfigEntity.topic(name).path, data))
    return tree


async def test_overrides_go_before_the_brokers_own_settings() -> None:
    tree = await tree_with(t=encode_config({"segment.bytes": "2000"}))
    configs = TopicConfigs(tree, DEFAULTS)
    await configs.load()
    assert (configs.of("t").segment_bytes, configs.of("t").retention_ms) == (2000, 5)
    assert configs.of("t") is configs.of("t")
    assert configs.overrides_of("t") == {"segment.bytes": "2000"}
    assert configs.overrides_of("u") == {}


async def test_new_defaults_reach_topics_with_overrides() -> None:
    tree = await tree_with(t=encode_config({"segment.bytes": "2000"}))
    configs = TopicConfigs(tree, DEFAULTS)
    await configs.load()
    assert configs.of("t").retention_ms == 5
    configs.set_defaults(TopicConfig(retention_ms=6))
    assert (configs.of("t").segment_bytes, configs.of("t").retention_ms) == (2000, 6)


async def test_changes_are_seen_when_they_are_looked_for() -> None:
    tree = await tree_with(t=encode_config({"segment.bytes": "2000"}))
    configs = TopicConfigs(tree, DEFAULTS)
    await configs.load()
    await tree.set(ConfigEntity.topic("t").path, encode_config({"segment.bytes": "3000"}))
    assert configs.of("t").segment_bytes == 2000
    await configs.refresh("t")
    assert configs.of("t").segment_bytes == 3000
    await tree.set(ConfigEntity.topic("t").path, encode_config({}))
    await configs.refresh("t")
    assert configs.of("t") is DEFAULTS


async def test_nothing_is_taken_out_of_a_topic_that_the_tree_does_not_know() -> None:
    tree = await tree_with(t=encode_config({}))
    configs = TopicConfigs(tree, TopicConfig(cleanup_policy=("compact", "delete")))
    await configs.load()
    assert configs.of("t").is_compacted
    await tree.delete(ConfigEntity.topic("t").path)
    await configs.refresh("t")
    for topic in ("t", "u"):
        config = configs.of(topic)
        assert (config.is_compacted, config.is_deleted_by_retention) == (False, False)
    configs.set_defaults(TopicConfig(segment_bytes=2000))
    assert (configs.of("u").segment_bytes, configs.of("u").cleanup_policy) == (2000, ())


async def test_a_topic_that_never_had_settings_has_the_brokers_own() -> None:
    tree = await tree_with()
    configs = TopicConfigs(tree, DEFAULTS)
    for topic in ("early", "late"):
        await tree.create(Create(f"/brokers/topics/{topic}"))
        if topic == "early":
            await configs.load()
    await configs.refresh("late")
    assert configs.of("early") is configs.of("late") is DEFAULTS


@pytest.mark.parametrize(
    "data", [b"?", encode_config({"segment.bytes": "many"}), encode_config({"no.such": "1"})]
)
async def test_what_cannot_be_understood_is_reported_and_left_out(
    data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    configs = TopicConfigs(await tree_with(t=data), DEFAULTS)
    await configs.load()
    assert configs.of("t").segment_bytes == DEFAULTS.segment_bytes
    assert "topic t" in caplog.text


async def test_one_bad_setting_does_not_take_the_others_with_it() -> None:
    data = encode_config({"no.such": "1", "segment.bytes": "2000", "retention.ms": "soon"})
    configs = TopicConfigs(await tree_with(t=data), DEFAULTS)
    await configs.load()
    assert (configs.of("t").segment_bytes, configs.of("t").retention_ms) == (2000, 5)


@pytest.mark.parametrize(
    "data",
    [
        b"?",
        encode_config({"retention.ms": "soon"}),
        encode_config({"cleanup.policy": "keep"}),
        encode_config({"cleanup.policy": "compact", "min.compaction.lag.ms": "-7"}),
        encode_config({"delete.retention.ms": "long", "retention.ms": "5"}),
    ],
)
async def test_nothing_is_taken_out_by_settings_that_are_not_understood(
    data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    configs = TopicConfigs(await tree_with(t=data), DEFAULTS)
    await configs.load()
    assert configs.of("t").cleanup_policy == ()
    assert "nothing is deleted from it" in caplog.text
    assert ("t" in configs, list(configs)) == (True, ["t"])
    assert "u" not in configs


async def test_settings_that_were_good_stay_when_the_node_breaks() -> None:
    tree = await tree_with(t=encode_config({"segment.bytes": "2000"}))
    configs = TopicConfigs(tree, DEFAULTS)
    await configs.load()
    await tree.set(ConfigEntity.topic("t").path, b"?")
    await configs.refresh("t")
    assert configs.of("t").segment_bytes == 2000


@pytest.mark.parametrize("default", [True, False])
async def test_a_topic_says_itself_whether_replicas_out_of_sync_may_lead(default: bool) -> None:
    defaults = TopicConfig(unclean_leader_election_enable=default)
    configs = TopicConfigs(await tree_with(), defaults)
    for text in ("true", "false"):
        settings = {"unclean.leader.election.enable": text, "retention.ms": "soon"}
        assert configs.is_unclean_allowed("t", settings) == (text == "true")
    assert configs.is_unclean_allowed("t", {"retention.ms": "soon"}) == default


async def test_a_setting_that_is_not_understood_allows_nobody_out_of_sync_to_lead(
    caplog: pytest.LogCaptureFixture,
) -> None:
    defaults = TopicConfig(unclean_leader_election_enable=True)
    configs = TopicConfigs(await tree_with(), defaults)
    assert not configs.is_unclean_allowed("t", {"unclean.leader.election.enable": "flase"})
    assert "No unclean election for topic t" in caplog.text
