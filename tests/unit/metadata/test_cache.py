"""The metadata cache: updates make new images, deletions are reported."""

from moldau.metadata.cache import MetadataCache, MetadataChange
from moldau.metadata.image import LEADER_DURING_DELETE, BrokerEndpoint
from moldau.model import TopicPartition
from moldau.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from moldau.protocol.primitives import NO_UUID

ID, OTHER_ID = b"a" * 16, b"b" * 16


def partition_state(index: int, leader: int = 1, topic: str = "") -> UpdateMetadataPartitionState:
    return UpdateMetadataPartitionState(
        topic_name=topic,
        partition_index=index,
        controller_epoch=1,
        leader=leader,
        leader_epoch=3,
        isr=[1],
        zk_version=2,
        replicas=[1, 2],
        offline_replicas=[2],
    )


def update(*states: UpdateMetadataTopicState) -> UpdateMetadataRequest:
    endpoint = UpdateMetadataEndpoint(
        port=9092, host="h", listener="PLAINTEXT", security_protocol=0
    )
    broker = UpdateMetadataBroker(id=1, endpoints=[endpoint], rack=None)
    return UpdateMetadataRequest(
        controller_id=1, controller_epoch=1, topic_states=list(states), live_brokers=[broker]
    )


def topic(*states: UpdateMetadataPartitionState, topic_id: bytes = ID) -> UpdateMetadataTopicState:
    return UpdateMetadataTopicState(
        topic_name="t", topic_id=topic_id, partition_states=list(states)
    )


def apply(cache: MetadataCache, request: UpdateMetadataRequest) -> list[TopicPartition]:
    work = cache.changes(request)
    while True:
        try:
            next(work)
        except StopIteration as stop:
            change: MetadataChange = stop.value
            assert change.before is cache.image
            cache.image = change.after
            return change.deleted


def test_an_update_adds_topics_brokers_and_the_controller() -> None:
    cache = MetadataCache()
    before = cache.image
    assert apply(cache, update(topic(partition_state(0), partition_state(1)))) == []
    image = cache.image
    assert before.topics == {}
    assert image.controller_id == 1
    assert image.endpoint(1, "PLAINTEXT") == BrokerEndpoint("h", 9092, 0)
    assert list(image.topics["t"].partitions) == [0, 1]
    assert image.names_by_id == {ID: "t"}
    partition = image.partition("t", 1)
    assert partition is not None
    assert (partition.leader, partition.leader_epoch, partition.isr) == (1, 3, (1,))
    assert (partition.replicas, partition.offline_replicas) == ((1, 2), (2,))


def test_a_later_update_changes_only_what_it_names() -> None:
    cache = MetadataCache()
    apply(cache, update(topic(partition_state(0), partition_state(1))))
    apply(cache, update(topic(partition_state(1, leader=2))))
    leaders = [state.leader for state in cache.image.topics["t"].partitions.values()]
    assert leaders == [1, 2]


def test_deleted_partitions_are_reported_and_the_empty_topic_goes() -> None:
    cache = MetadataCache()
    apply(cache, update(topic(partition_state(0), partition_state(1))))
    gone = apply(cache, update(topic(partition_state(0, leader=LEADER_DURING_DELETE))))
    assert gone == [TopicPartition("t", 0)]
    assert list(cache.image.topics["t"].partitions) == [1]
    apply(cache, update(topic(partition_state(1, leader=LEADER_DURING_DELETE))))
    assert cache.image.topics == {}
    assert cache.image.names_by_id == {}


def test_a_recreated_topic_is_not_found_by_its_old_id() -> None:
    cache = MetadataCache()
    apply(cache, update(topic(partition_state(0))))
    apply(cache, update(topic(partition_state(0), topic_id=OTHER_ID)))
    assert cache.image.names_by_id == {OTHER_ID: "t"}


def test_old_requests_name_topics_per_partition_and_have_no_ids() -> None:
    cache = MetadataCache()
    request = update()
    request.ungrouped_partition_states = [partition_state(0, topic="t")]
    apply(cache, request)
    assert cache.image.topics["t"].topic_id == NO_UUID
    assert cache.image.names_by_id == {}
