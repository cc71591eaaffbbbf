"""Log directories whose topics are in a tree that is gone."""

from moldau.coordination.memory import MemoryEnsemble
from moldau.model import TopicPartition
from moldau.replication.partition import PartitionState
from unit.broker.world import START_MS, Setting, batch_of, broker_world


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
