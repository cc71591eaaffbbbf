"""Which broker answers for what."""

import pytest

from moldau.client.admin.places import (
    TRANSACTION,
    Anywhere,
    AtController,
    AtCoordinatorOf,
    AtCoordinators,
    AtLeaders,
    ByNumber,
)
from moldau.client.connection.cluster import Cluster
from moldau.client.settings import AdminSettings
from moldau.errors import (
    BrokerNotAvailable,
    CoordinatorNotAvailable,
    ErrorCode,
    LeaderNotAvailable,
    NotController,
    UnknownTopicOrPartition,
)
from moldau.model import TopicPartition
from moldau.protocol.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from moldau.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail, Respond
from unit.client.topics import create_topic


def cluster_of(kafka: EmbeddedBroker) -> Cluster:
    settings = AdminSettings(bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=1)
    return Cluster(settings, creates_topics=False)


def here(kafka: EmbeddedBroker) -> MetadataResponseBroker:
    host, _, port = kafka.bootstrap_servers.partition(":")
    return MetadataResponseBroker(node_id=0, host=host, port=int(port))


async def test_any_broker_is_one_that_there_is(kafka: EmbeddedBroker) -> None:
    cluster = cluster_of(kafka)
    places = Anywhere[str](cluster)
    assert await places.find("x") == 0
    places.forget("x")
    assert await places.find("x") == 0
    cluster.close()


async def test_brokers_are_found_by_their_numbers(kafka: EmbeddedBroker) -> None:
    cluster = cluster_of(kafka)
    assert await ByNumber(cluster).find(0) == 0
    with pytest.raises(BrokerNotAvailable, match="no broker 7"):
        await ByNumber(cluster).find(7)
    ByNumber(cluster).forget(0)
    cluster.close()


async def test_a_cluster_without_a_controller_says_so(kafka: EmbeddedBroker) -> None:
    cluster = cluster_of(kafka)
    places = AtController[str](cluster)
    assert await places.find("x") == 0
    places.forget("x")
    stop = kafka.control(
        "Metadata", lambda _: Respond(MetadataResponse(brokers=[here(kafka)], topics=[]))
    )
    with pytest.raises(NotController):
        await places.find("x")
    stop()
    assert await places.find("x") == 0
    cluster.close()


async def test_leaders_are_looked_for_a_few_times(kafka: EmbeddedBroker) -> None:
    create_topic(kafka, "t")
    cluster = cluster_of(kafka)
    places = AtLeaders(cluster)
    assert await places.find(TopicPartition("t", 0)) == 0
    places.forget(TopicPartition("t", 0))
    assert await places.find(TopicPartition("t", 0)) == 0
    with pytest.raises(UnknownTopicOrPartition, match="x-0"):
        await places.find(TopicPartition("x", 0))
    with pytest.raises(UnknownTopicOrPartition, match="no partition t-9"):
        await places.find(TopicPartition("t", 9))
    cluster.close()


async def test_leaders_of_many_topics_are_found_by_one_question(kafka: EmbeddedBroker) -> None:
    names = [f"t{number}" for number in range(5)]
    for name in names:
        create_topic(kafka, name)
    cluster = cluster_of(kafka)
    places = AtLeaders(cluster)
    asked: list[object] = []
    kafka.control("Metadata", asked.append)
    keys = [TopicPartition(name, 0) for name in names]
    await places.look_up(keys)
    assert [await places.find(key) for key in keys] == [0] * 5
    await places.look_up(keys)
    assert len(asked) == 1
    lost = [TopicPartition(f"x{number}", 0) for number in range(5)]
    await places.look_up(lost)
    for key in lost:
        with pytest.raises(UnknownTopicOrPartition):
            await places.find(key)
    assert len(asked) == 4, "all are looked for together, as often as one"
    cluster.close()


async def test_a_partition_without_a_leader_may_have_one_later(kafka: EmbeddedBroker) -> None:
    orphan = MetadataResponsePartition(
        error_code=0, partition_index=0, leader_id=-1, replica_nodes=[3], isr_nodes=[]
    )
    topic = MetadataResponseTopic(error_code=0, name="t", partitions=[orphan])
    answer = MetadataResponse(brokers=[here(kafka)], topics=[topic])
    kafka.control("Metadata", lambda _: Respond(answer))
    cluster = cluster_of(kafka)
    with pytest.raises(LeaderNotAvailable):
        await AtLeaders(cluster).find(TopicPartition("t", 0))
    cluster.close()


async def test_coordinators_are_remembered_until_they_are_forgotten(
    kafka: EmbeddedBroker,
) -> None:
    cluster = cluster_of(kafka)
    coordinators = AtCoordinators(cluster, TRANSACTION)
    places = AtCoordinatorOf[int](coordinators, "id")
    assert await places.find(1) == 0
    kafka.control("FindCoordinator", lambda _: Fail(ErrorCode.COORDINATOR_NOT_AVAILABLE))
    assert await places.find(2) == 0
    places.forget(1)
    with pytest.raises(CoordinatorNotAvailable):
        await places.find(1)
    cluster.close()


async def test_a_broker_that_has_answered_comes_before_others(kafka: EmbeddedBroker) -> None:
    silent = MetadataResponseBroker(node_id=-5, host="127.0.0.1", port=1)
    twins = MetadataResponse(brokers=[silent, here(kafka)], topics=[])
    kafka.control("Metadata", lambda _: Respond(twins))
    cluster = cluster_of(kafka)
    await cluster.refresh()
    await cluster.broker(0)
    assert await Anywhere[str](cluster).find("x") == 0
    cluster.close()


async def test_a_broker_that_failed_is_not_chosen_again(kafka: EmbeddedBroker) -> None:
    twins = MetadataResponse(brokers=[here(kafka), here(kafka)], topics=[])
    twins.brokers[1].node_id = 5
    kafka.control("Metadata", lambda _: Respond(twins))
    cluster = cluster_of(kafka)
    places = Anywhere[str](cluster)
    chosen = []
    for _ in range(3):
        chosen += [await places.find("x"), await places.find("y")]
        places.forget("x")
        places.forget("y")
    assert chosen == [0, 0, 5, 5, 0, 0]
    cluster.close()


async def test_several_coordinators_are_found_by_one_question(kafka: EmbeddedBroker) -> None:
    cluster = cluster_of(kafka)
    coordinators = AtCoordinators(cluster, TRANSACTION)
    asked: list[object] = []
    kafka.control("FindCoordinator", asked.append)
    await coordinators.look_up(["a", "b", "c"])
    await coordinators.look_up(["b", "c", "d"])
    assert len(asked) == 1, "one alone is left to find"
    assert [await coordinators.find(name) for name in "abcd"] == [0] * 4
    assert len(asked) == 2
    cluster.close()


async def test_coordinators_that_are_not_there_are_told_of_by_find(kafka: EmbeddedBroker) -> None:
    lost = int(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    each = Coordinator(key="a", node_id=-1, host="", port=-1, error_code=lost, error_message=None)
    cluster = cluster_of(kafka)
    coordinators = AtCoordinators(cluster, TRANSACTION)
    answer = Respond(FindCoordinatorResponse(coordinators=[each]))
    stop = kafka.control("FindCoordinator", lambda _: answer)
    await coordinators.look_up(["a", "b"])
    stop()
    assert await coordinators.find("a") == 0, "nothing was remembered of it"
    cluster.close()
