"""Log directories whose topics are in a tree that is gone."""

import logging
from collections.abc import Mapping

import pytest

from moldau.broker.settings.resources import ConfigResourceType, RequestedResource
from moldau.broker.topics.adoption import KEPT
from moldau.config.alteration import Alteration, AlterOperation
from moldau.config.topic_listing import ListedTopic
from moldau.coordination.layout.configs import ConfigEntity
from moldau.coordination.memory import MemoryEnsemble
from moldau.errors import KafkaError
from moldau.log.retention import delete_old_segments
from moldau.model import TopicPartition
from moldau.records.batch import LOG_APPEND_TIME, write_batch
from moldau.records.record import Record
from moldau.replication.partition import PartitionState
from unit.broker.world import START_MS, Setting, World, batch_of, broker_world

YEAR_MS = 365 * 86_400_000


async def left_behind(topics: Mapping[str, Mapping[str, str]]) -> Setting:
    """What a broker with these topics leaves, of which the tree is gone."""
    setting = Setting()
    async with broker_world(setting=setting) as world:
        for name, overrides in topics.items():
            await world.create_topic(name, overrides=overrides)
            world.append(name, b"a")
            world.partition(name).log.roll(now_ms=START_MS)
            world.append(name, b"b")
    setting.ensemble = MemoryEnsemble(setting.clock)
    setting.clock.time_ms += YEAR_MS
    return setting


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


async def led(world: World, *names: str) -> None:
    for name in names:
        assert await world.broker.topics.until_led(name, 1, timeout_s=5)


@pytest.mark.parametrize("policy", ["delete", "compact", "compact,delete"])
async def test_nothing_goes_of_topics_whose_settings_are_not_known(policy: str) -> None:
    setting = await left_behind({"t": {"retention.ms": "-1"}})
    broker = {"log.cleanup.policy": policy, "log.retention.bytes": "1", "log.retention.ms": "1"}
    async with broker_world(broker, setting) as world:
        await led(world, "t")
        log = world.partition("t").log
        assert delete_old_segments(log, now_ms=world.clock.now_ms()) == 0
        assert (log.config.is_compacted, log.log_start_offset) == (False, 0)


async def test_all_topics_are_adopted_at_once_or_none() -> None:
    """A stop in between would leave a tree with some, in which the others are not looked for."""
    setting = await left_behind({"t": {}, "u": {}, "v": {}})
    async with broker_world(setting=setting) as world:
        nodes = [await world.tree.get(f"/brokers/topics/{name}") for name in "tuv"]
        assert len({node.stat.czxid for node in nodes}) == 1


async def test_a_warning_names_them_and_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    setting = await left_behind({f"t{number:02}": {} for number in reversed(range(12))})
    async with broker_world(setting=setting) as world:
        await world.broker.auto_creation.create("__consumer_offsets")
    (warning,) = warnings(caplog)
    assert "settings of 12 topics are not known" in warning
    assert "t08, t09 and 2 more" in warning
    assert "t10" not in warning
    assert "kafka-configs.sh --bootstrap-server localhost:9092 --alter" in warning
    assert warning.endswith("--entity-name t00 --add-config retention.ms=...")
    caplog.clear()
    caplog.set_level(logging.INFO, "moldau.broker.topics.adoption")
    async with broker_world(setting=setting):
        assert warnings(caplog) == []
        assert "12 topics still keep everything" in caplog.text


async def test_a_topic_that_looks_compacted_or_stamped_is_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    setting = await left_behind({"plain": {}})
    async with broker_world(setting=setting) as world:
        await led(world, "plain")
        first, fourth = Record(0, START_MS, b"k", b"v"), Record(3, START_MS, b"l", b"w")
        for name, data in (
            ("table", write_batch([first, fourth])),
            ("clock", write_batch([first], attributes=LOG_APPEND_TIME)),
        ):
            await world.create_topic(name)
            world.partition(name).log.append_as_follower(data, now_ms=START_MS)
    setting.ensemble = MemoryEnsemble(setting.clock)
    caplog.clear()
    async with broker_world(setting=setting):
        _, compacted, stamped = warnings(caplog)
    assert "1 of them look compacted: table; " in compacted
    assert "--entity-name table --add-config cleanup.policy=compact" in compacted
    assert "--entity-name clock --add-config message.timestamp.type=LogAppendTime" in stamped


async def test_whoever_sets_an_adopted_topic_has_his_will() -> None:
    setting = await left_behind({"t": {}})
    topic = RequestedResource(ConfigResourceType.TOPIC, "t")
    async with broker_world(setting=setting) as world:
        await led(world, "t")
        alter = world.broker.config_changes.alter
        assert await world.broker.configs.read(ConfigEntity.topic("t")) == KEPT
        back = [Alteration("retention.ms", AlterOperation.DELETE, None)]
        await alter(topic, back, is_only_checked=False)
        log = world.partition("t").log
        assert log.config.retention_ms == 7 * 86_400_000
        assert delete_old_segments(log, now_ms=world.clock.now_ms()) == 2
        compact = [Alteration("cleanup.policy", AlterOperation.SET, "compact")]
        await alter(topic, compact, is_only_checked=False)
        assert log.config.is_compacted


LISTED = {
    "said": ListedTopic({"retention.ms": "5"}),
    "kept": ListedTopic(KEPT),
    "plain": ListedTopic(),
    "inherited": ListedTopic(inherited={"retention.ms": "7", "min.insync.replicas": "2"}),
    "__consumer_offsets": ListedTopic({"segment.bytes": "2000"}),
    "gone": ListedTopic(),
}


async def test_listed_topics_have_the_settings_that_are_listed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    topics = ("said", "kept", "plain", "inherited", "__consumer_offsets", "forgotten")
    setting = await left_behind({name: {} for name in topics})
    setting.listed_topics = LISTED
    async with broker_world(setting=setting) as world:
        read = world.broker.configs.read
        found = {name: await read(ConfigEntity.topic(name)) for name in topics}
        assert found["said"] == {"retention.ms": "5"}
        assert found["plain"] == {}
        assert found["inherited"] == {"retention.ms": "7"}
        assert found["__consumer_offsets"]["cleanup.policy"] == "compact"
        assert found["__consumer_offsets"]["segment.bytes"] == "2000"
        assert found["forgotten"] == KEPT
        await led(world, "said")
        assert world.partition("said").log.config.retention_ms == 5
    forgotten, missing = warnings(caplog)
    assert "settings of 1 topics are not known" in forgotten
    assert "1 listed topics have no log here: gone" in missing


async def test_a_list_at_a_later_start_is_for_topics_that_nobody_has_set() -> None:
    setting = await left_behind({"said": {}, "plain": {}, "forgotten": {}})
    changed = RequestedResource(ConfigResourceType.TOPIC, "plain")
    async with broker_world(setting=setting) as world:
        await led(world, "said", "plain")
        wish = [Alteration("retention.ms", AlterOperation.SET, "9")]
        await world.broker.config_changes.alter(changed, wish, is_only_checked=False)
    setting.listed_topics = LISTED
    for _ in range(2):
        async with broker_world(setting=setting) as world:
            await led(world, "said", "plain", "forgotten")
            assert world.partition("said").log.config.retention_ms == 5
            assert world.partition("plain").log.config.retention_ms == 9
            assert world.partition("forgotten").log.config.retention_ms == -1


async def test_topics_are_not_adopted_while_a_directory_is_offline() -> None:
    """Its partitions would be made anew, and one of the two logs would have to go later."""
    settings, setting = {"log.dirs": "/one,/two"}, Setting()
    async with broker_world(settings, setting) as world:
        await world.create_topic("t", 2)
    setting.ensemble = MemoryEnsemble(setting.clock)
    setting.disk.rename("/one", "/elsewhere")
    setting.disk.open_append("/one").append(b"not a directory")
    with pytest.raises(KafkaError, match=r"/one cannot be used.*take it out of log\.dirs"):
        async with broker_world(settings, setting):
            pass
    setting.disk.remove("/one")
    setting.disk.rename("/elsewhere", "/one")
    async with broker_world(settings, setting) as world:
        assert await world.broker.topics.until_led("t", 2, timeout_s=5)


async def test_logs_of_topics_that_others_do_not_know_are_left_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    setting = await left_behind({"old": {}})
    disk, setting.disk = setting.disk, type(setting.disk)()
    async with broker_world(setting=setting) as world:
        await world.create_topic("new")
    setting.disk = disk
    # As administrators do when a broker says that the directory is another cluster's.
    disk.remove("/logs/meta.properties")
    caplog.clear()
    async with broker_world({"log.retention.ms": "1"}, setting) as world:
        (warning,) = warnings(caplog)
        assert "1 logs belong to topics that do not exist in the cluster" in warning
        assert "old-0" in warning
        log = world.broker.logs.get(TopicPartition("old", 0))
        assert log is not None
        assert delete_old_segments(log, now_ms=world.clock.now_ms()) == 0


async def test_topics_are_found_again_with_ids_records_and_epochs() -> None:
    setting = Setting()
    async with broker_world(setting=setting) as world:
        topic_id = await world.create_topic("t", 2)
        await world.broker.auto_creation.create("__consumer_offsets")
        await world.create_topic("__mine")
        state = PartitionState(1, 0, 7, (0,), 0, (0,))
        world.partition("t", 1).lead(state, now_ms=START_MS)
        world.append("t", b"a", b"b", number=1)
    setting.ensemble = MemoryEnsemble(setting.clock)
    async with broker_world(setting=setting) as world:
        await world.broker.topics.until_led("t", 2, timeout_s=5)
        image = world.broker.metadata.image
        assert image.topics["t"].topic_id == topic_id
        log = world.partition("t", 1).log
        assert (log.log_end_offset, log.high_watermark) == (2, 2)
        assert world.partition("t", 0).state.leader_epoch == 1
        assert world.partition("t", 1).state.leader_epoch == 8
        assert world.partition("__consumer_offsets").log.config.is_compacted
        assert not world.partition("__mine").log.config.is_compacted


async def test_new_records_come_after_the_old_ones_in_a_later_epoch() -> None:
    setting = Setting()
    async with broker_world(setting=setting) as world:
        await world.create_topic("t")
        world.append("t", b"a")
    setting.ensemble = MemoryEnsemble(setting.clock)
    async with broker_world(setting=setting) as world:
        await world.broker.topics.until_led("t", 1, timeout_s=5)
        partition = world.partition("t")
        appended = partition.append(batch_of(b"b"), acks=1, now_ms=START_MS)
        assert appended.first_offset == 1
        assert [start.epoch for start in partition.log.epochs] == [0, 1]


async def test_a_tree_with_topics_is_believed() -> None:
    setting = Setting()
    async with broker_world(setting=setting) as world:
        await world.create_topic("t")
    async with broker_world(setting=setting) as world:
        await world.broker.topics.until_led("t", 1, timeout_s=5)
        assert world.partition("t").state.leader_epoch == 0
        assert world.broker.logs.get(TopicPartition("t", 0)) is not None
