"""What an administrator does to three brokers: moves, elections, growth, settings."""

from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from conformance.apache.marks import needs_apache
from conformance.our_cluster import DEADLINE_S, OurCluster, our_cluster, until
from conformance.test_cluster import RECORDS, Sender, consume, create
from moldau.coordination.layout import topics as topic_nodes
from moldau.errors import ErrorCode
from moldau.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from moldau.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from moldau.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from moldau.testing.wire import WireClient

pytestmark = needs_apache("kafka-3.9")

PREFERRED, UNCLEAN = 0, 1
TOPIC_RESOURCE, SET = 2, 0


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurCluster]:
    with our_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def cluster(shared: OurCluster) -> OurCluster:
    shared.start()
    until(lambda: shared.live() == {1, 2, 3} and shared.controller(), "all brokers are there")
    return shared


def ask_controller(cluster: OurCluster, request: object) -> object:
    """The controller's answer, whoever that is by now."""
    number = until(cluster.controller, "there is a controller")
    with WireClient(cluster.brokers[number].bootstrap, timeout_s=DEADLINE_S) as client:
        answer: object = client.ask(request)
        return answer


def reassign(cluster: OurCluster, topic: str, replicas: list[int] | None) -> int:
    partition = ReassignablePartition(partition_index=0, replicas=replicas)
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=topic, partitions=[partition])], timeout_ms=10_000
    )
    answer = ask_controller(cluster, request)
    code: int = answer.responses[0].partitions[0].error_code  # type: ignore[attr-defined]
    return code


def elect(cluster: OurCluster, topic: str, kind: int) -> int:
    request = ElectLeadersRequest(
        election_type=kind,
        topic_partitions=[TopicPartitions(topic=topic, partitions=[0])],
        timeout_ms=10_000,
    )
    answer = ask_controller(cluster, request)
    results = answer.replica_election_results  # type: ignore[attr-defined]
    code: int = results[0].partition_result[0].error_code
    return code


def set_topic_config(cluster: OurCluster, topic: str, name: str, value: str) -> None:
    resource = AlterConfigsResource(
        resource_type=TOPIC_RESOURCE,
        resource_name=topic,
        configs=[AlterableConfig(name=name, config_operation=SET, value=value)],
    )
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    with WireClient(next(iter(cluster.brokers.values())).bootstrap) as client:
        (response,) = client.ask(request).responses
        assert response.error_code == ErrorCode.NONE


def replicas_of(cluster: OurCluster, topic: str) -> tuple[int, ...]:
    data, _ = cluster.tree.get(topic_nodes.topic_path(topic))
    return topic_nodes.decode_topic(data).partitions[0].replicas


def test_a_partition_moves_under_load_and_its_old_replicas_go(cluster: OurCluster) -> None:
    create(cluster, "moved")
    first, second, third = replicas_of(cluster, "moved")
    set_topic_config(cluster, "moved", "min.insync.replicas", "1")
    sender = Sender(cluster, "moved")
    sender.send()
    assert reassign(cluster, "moved", [third]) == ErrorCode.NONE
    sender.send()
    until(lambda: replicas_of(cluster, "moved") == (third,), "only the third has it")
    assert cluster.state("moved").leader == third
    sender.send()
    for number in (first, second):
        directory = cluster.brokers[number].log_directory
        until(lambda: not list(directory.glob("moved-0")), "the old replica is gone")  # noqa: B023
    assert reassign(cluster, "moved", [first, third, second]) == ErrorCode.NONE
    until(lambda: len(cluster.state("moved").isr) == 3, "all three have it again")
    until(lambda: replicas_of(cluster, "moved") == (first, third, second), "the move has ended")
    sender.send()
    assert sender.errors == []
    assert sorted(consume(cluster, "moved", 4 * RECORDS)) == sorted(sender.acknowledged)


def test_a_move_to_a_broker_that_is_away_can_be_cancelled(cluster: OurCluster) -> None:
    create(cluster, "cancelled")
    # The controller stays, whoever it is: it is asked while the third is away.
    controller = until(cluster.controller, "there is a controller")
    first, second, third = sorted(
        replicas_of(cluster, "cancelled"), key=lambda number: number != controller
    )
    assert reassign(cluster, "cancelled", [first, second]) == ErrorCode.NONE
    until(lambda: replicas_of(cluster, "cancelled") == (first, second), "two have it")
    assert reassign(cluster, "cancelled", None) == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
    cluster.brokers[third].kill()
    # It is registered until its session expires, and so may still be wished for.
    assert reassign(cluster, "cancelled", [third]) == ErrorCode.NONE
    until(lambda: third not in cluster.live(), "the third is gone")
    assert set(replicas_of(cluster, "cancelled")) == {first, second, third}
    assert reassign(cluster, "cancelled", None) == ErrorCode.NONE
    until(lambda: set(replicas_of(cluster, "cancelled")) == {first, second}, "as it was")
    assert set(cluster.state("cancelled").isr) == {first, second}


def test_the_preferred_replica_leads_again_when_asked_to(cluster: OurCluster) -> None:
    create(cluster, "preferred")
    before = cluster.state("preferred")
    cluster.brokers[before.leader].stop()
    cluster.until_led_by_another("preferred", before)
    cluster.start()
    cluster.until_in_sync("preferred")
    assert elect(cluster, "preferred", PREFERRED) == ErrorCode.NONE
    assert cluster.state("preferred").leader == before.leader
    assert elect(cluster, "preferred", PREFERRED) == ErrorCode.ELECTION_NOT_NEEDED


def test_an_unclean_election_is_only_held_on_request(cluster: OurCluster) -> None:
    create(cluster, "unclean")
    assert reassign(cluster, "unclean", [1, 2]) == ErrorCode.NONE
    until(lambda: set(replicas_of(cluster, "unclean")) == {1, 2}, "two have it")
    leader = cluster.state("unclean").leader
    other = 3 - leader
    cluster.brokers[other].kill()
    until(lambda: cluster.state("unclean").isr == (leader,), "the leader is alone")
    cluster.brokers[leader].kill()
    until(lambda: cluster.state("unclean").leader == -1, "nobody leads")
    cluster.brokers[other].start()
    until(lambda: other in cluster.live() and cluster.controller(), "the other is back")
    # As long as its session stands, what the killed one alone has is waited for.
    until(lambda: leader not in cluster.live(), "the session of the killed one has ended")
    assert cluster.state("unclean").leader == -1
    assert elect(cluster, "unclean", UNCLEAN) == ErrorCode.NONE
    assert cluster.state("unclean").leader == other
    cluster.start()
    until(lambda: set(cluster.state("unclean").isr) == {1, 2}, "both are in sync")


def test_a_topic_grows_on_all_brokers(cluster: OurCluster) -> None:
    create(cluster, "grown")
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.create_partitions([NewPartitions("grown", 3)])["grown"].result(DEADLINE_S)
    cluster.until_in_sync("grown", 3)
    sender = Sender(cluster, "grown")
    sender.send()
    assert sender.errors == []


def test_a_group_goes_on_with_its_offsets_at_another_coordinator(cluster: OurCluster) -> None:
    create(cluster, "grouped")
    sender = Sender(cluster, "grouped")
    sender.send()
    assert len(consume(cluster, "grouped", RECORDS, group="group")) == RECORDS
    # Both partitions of the offsets change their leader when each broker is killed in turn.
    for broker in cluster.brokers.values():
        broker.kill()
        until(lambda: len(cluster.live()) == 2, "it is gone")
        sender.send(10)
        assert len(consume(cluster, "grouped", 10, group="group")) == 10
        cluster.start()
        cluster.until_in_sync("grouped")
        cluster.until_in_sync("__consumer_offsets", 2)
    assert sender.errors == []
