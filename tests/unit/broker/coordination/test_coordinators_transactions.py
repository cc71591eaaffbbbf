"""The transaction coordinator among the others: what it is told about its partitions."""

from moldau.broker.coordination.coordinators import leader_of_member
from moldau.broker.topics.internal import TRANSACTION_STATE
from moldau.errors import ErrorCode
from moldau.metadata.cache import MetadataCache
from moldau.metadata.image import NO_LEADER, ClusterImage, PartitionImage, TopicImage
from moldau.model import TopicPartition
from moldau.replication.partition import PartitionState
from unit.broker.transaction_client import SETTINGS, Client, begin
from unit.broker.world import broker_world

T0 = TopicPartition("t", 0)


def cache_of(*topics: str) -> MetadataCache:
    partition = PartitionImage(3, 0, (3,), (3,))
    metadata = MetadataCache()
    metadata.image = ClusterImage(
        topics={name: TopicImage(name, bytes(16), {0: partition}) for name in topics}
    )
    return metadata


def test_markers_go_to_the_leader() -> None:
    assert leader_of_member(cache_of("t", TRANSACTION_STATE), T0) == 3


def test_a_partition_that_is_gone_gets_no_marker() -> None:
    assert leader_of_member(cache_of(TRANSACTION_STATE), T0) is None


def test_before_there_is_metadata_a_partition_is_not_taken_for_gone() -> None:
    assert leader_of_member(cache_of(), T0) == NO_LEADER


async def test_steps_of_transactions_need_all_replicas_whatever_offsets_need() -> None:
    settings = {
        **SETTINGS,
        "offsets.commit.required.acks": "1",
        "transaction.state.log.min.isr": "2",
    }
    async with broker_world(settings) as world:
        await begin(world)
        partition = world.partition(TRANSACTION_STATE)
        alone = PartitionState(1, 0, 1, (0,), 0, (0, 1))
        partition.lead(alone, now_ms=world.clock.now_ms())
        assert await Client(world).init() is ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert partition.log.log_end_offset == 0
