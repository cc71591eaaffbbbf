"""Several real brokers inside the test process."""

import subprocess
from collections.abc import Iterator

import pytest

from moldau.errors import ErrorCode, InvalidConfig
from moldau.model import TopicPartition
from moldau.testing.cluster import RunningCluster, running_cluster
from moldau.testing.contents import records_of
from moldau.testing.control import Call, Drop
from moldau.testing.wire import WireClient
from unit.testing.requests import batch, produce

LAG_MS = 2_000


@pytest.fixture(scope="module")
def running() -> Iterator[RunningCluster]:
    settings = {
        "min.insync.replicas": "2",
        "replica.lag.time.max.ms": str(LAG_MS),
        "replica.fetch.wait.max.ms": "100",
    }
    with running_cluster(3, settings) as cluster:
        yield cluster


@pytest.fixture
def cluster(running: RunningCluster) -> RunningCluster:
    for member in running:
        if not member.is_up:
            member.start()
    return running


def write(cluster: RunningCluster, topic: str, *values: bytes, acks: int = -1) -> ErrorCode:
    """Produce to the leader; returns the error code."""
    with WireClient(cluster[cluster.leader(topic)].address) as client:
        response = client.ask(produce(topic, batch(*values), acks=acks))
    return ErrorCode(response.responses[0].partition_responses[0].error_code)


def values(cluster: RunningCluster, broker: int, topic: str) -> list[bytes | None]:
    """What a broker has of a topic, as far as it knows it to be committed."""
    found = cluster.look(lambda _: records_of(cluster[broker].broker, topic))
    return [record.value for record in found[0]]


def wait_for_values(cluster: RunningCluster, topic: str, count: int) -> None:
    """Until all brokers that are up have so many committed records."""
    cluster.wait_for(
        lambda _: all(
            member.broker.replicas.replica(TopicPartition(topic, 0)).log.high_watermark == count
            for member in cluster
            if member.is_up
        )
    )


def test_what_is_acknowledged_comes_to_all_brokers(cluster: RunningCluster) -> None:
    cluster.create_topic("all")
    assert write(cluster, "all", b"a", b"b") == ErrorCode.NONE
    wait_for_values(cluster, "all", 2)
    assert [values(cluster, broker, "all") for broker in range(3)] == [[b"a", b"b"]] * 3


def test_after_a_kill_another_leads_with_all_that_was_acknowledged(cluster: RunningCluster) -> None:
    cluster.create_topic("killed")
    assert write(cluster, "killed", b"before") == ErrorCode.NONE
    leader = cluster.leader("killed")
    cluster[leader].kill()
    assert not cluster[leader].is_up
    assert cluster.wait_for_leader("killed", other_than=leader) != leader
    assert write(cluster, "killed", b"after") == ErrorCode.NONE
    cluster[leader].start()
    cluster.wait_for_in_sync("killed", 0, 3)
    wait_for_values(cluster, "killed", 2)
    assert values(cluster, leader, "killed") == [b"before", b"after"]


def test_a_broker_that_stops_hands_over_first(cluster: RunningCluster) -> None:
    cluster.create_topic("stopped")
    leader = cluster.leader("stopped")
    cluster[leader].stop()
    assert cluster.wait_for_leader("stopped") != leader
    assert write(cluster, "stopped", b"v") == ErrorCode.NONE


def test_with_too_few_in_sync_nothing_is_acknowledged(cluster: RunningCluster) -> None:
    cluster.create_topic("few")
    leader = cluster.leader("few")
    for member in cluster:
        if member.id != leader:
            member.kill()
    cluster.wait_for_in_sync("few", 0, 1)
    assert write(cluster, "few", b"v") == ErrorCode.NOT_ENOUGH_REPLICAS
    assert write(cluster, "few", b"v", acks=1) == ErrorCode.NONE
    for member in cluster:
        if member.id != leader:
            member.start()
    cluster.wait_for_in_sync("few", 0, 3)
    assert write(cluster, "few", b"w") == ErrorCode.NONE


def test_a_follower_that_fetches_nothing_leaves_the_set_and_comes_back(
    cluster: RunningCluster,
) -> None:
    cluster.create_topic("late", replicas={0: (0, 1, 2)})
    heal = cluster[0].control("Fetch", lambda call: Drop() if _replica_id(call) == 2 else None)
    write(cluster, "late", b"v", acks=1)
    cluster.wait_for_in_sync("late", 0, 2)
    assert cluster.in_sync("late") == (0, 1)
    assert write(cluster, "late", b"w") == ErrorCode.NONE
    heal()
    cluster.wait_for_in_sync("late", 0, 3)
    wait_for_values(cluster, "late", 2)


def test_a_broker_whose_session_expires_joins_again(cluster: RunningCluster) -> None:
    cluster.create_topic("expired")
    leader = cluster.leader("expired")
    cluster[leader].lose_session()
    cluster.wait_for_leader("expired", other_than=leader)
    cluster.wait_for_in_sync("expired", 0, 3)
    assert write(cluster, "expired", b"v") == ErrorCode.NONE


def test_addresses_are_those_of_the_brokers_that_are_up(cluster: RunningCluster) -> None:
    everyone = cluster.bootstrap_servers.split(",")
    cluster[1].stop()
    assert cluster.bootstrap_servers.split(",") == [everyone[0], everyone[2]]
    cluster[1].start()
    assert cluster.bootstrap_servers.split(",") == everyone


def test_what_never_happens_is_not_waited_for_in_vain(cluster: RunningCluster) -> None:
    with pytest.raises(TimeoutError, match="the condition did not hold"):
        cluster.wait_for(lambda _: False, timeout_s=0.01)
    with pytest.raises(TimeoutError, match="nothing-0 has leader -1"):
        cluster.wait_for_leader("nothing", timeout_s=0.01)
    with pytest.raises(TimeoutError, match=r"nothing-0 has \[\] in sync, not 3 replicas"):
        cluster.wait_for_in_sync("nothing", 0, 3, timeout_s=0.01)
    assert cluster.leader("nothing") == -1
    assert cluster.in_sync("nothing") == ()


def test_a_broker_that_cannot_start_says_why() -> None:
    with (
        pytest.raises(InvalidConfig, match=r"log\.segment\.bytes"),
        running_cluster(1, {"log.segment.bytes": "0"}),
    ):
        pass


def _replica_id(call: Call) -> int:
    state = call.request.replica_state
    return int(call.request.replica_id if state is None else state.replica_id)


def test_a_broker_whose_disks_have_failed_can_be_killed() -> None:
    """To kill is to let its disks fail, too: it may notice that before it is gone."""
    with running_cluster(1) as cluster:
        member = cluster[0]
        for directory in member.broker.logs.directories:
            volume = directory.volume
            cluster.look(lambda _: volume.fail(OSError("gone")))  # noqa: B023 - called at once
        cluster.wait_for(lambda _: member._task is not None and member._task.done())
        member.kill()
        assert not member.is_up


def test_three_brokers_need_neither_java_nor_any_other_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise AssertionError("a process is started")

    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
    with running_cluster(3, {"min.insync.replicas": "2"}) as cluster:
        cluster.create_topic("t")
        cluster.wait_for_in_sync("t", 0, 3)
        assert write(cluster, "t", b"one") == ErrorCode.NONE
