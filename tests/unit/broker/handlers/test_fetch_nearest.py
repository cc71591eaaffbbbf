"""Fetch (key 1) of consumers from followers, in their own rack (KIP-392)."""

from collections.abc import Iterator

import pytest

from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.fetch import PartitionData
from moldau.records.batch import iterate_headers
from moldau.replication.read_replica import RACK_AWARE
from moldau.testing.cluster import RunningCluster, running_cluster
from moldau.testing.wire import WireClient
from unit.broker.ways import Way, take
from unit.testing.requests import batch, fetch, produce

TOPIC = TopicPartition("t", 0)
LAST_VERSION_WITHOUT_FOLLOWERS = 10
VERSION = 12


@pytest.fixture(scope="module", params=[Way.HANDLER, Way.FAST])
def cluster(request: pytest.FixtureRequest) -> Iterator[RunningCluster]:
    settings = {"replica.selector.class": RACK_AWARE, "replica.fetch.wait.max.ms": "5000"}
    with running_cluster(
        3, settings, settings_of=lambda broker: {"broker.rack": f"rack-{broker}"}
    ) as made:

        def take_everywhere(made: RunningCluster) -> None:
            for broker in range(3):
                take(request.param, made[broker].running.dispatcher)

        made.look(take_everywhere)
        made.create_topic("t", replicas={0: (0, 1, 2)})
        with WireClient(made[0].address) as client:
            client.ask(produce("t", batch(b"a", b"b")))
        yield made


def ask(
    cluster: RunningCluster, broker: int, *, rack: str = "", version: int = VERSION
) -> PartitionData:
    request = fetch("t")
    request.rack_id = rack
    with WireClient(cluster[broker].address) as client:
        response = client.ask(request, version)
    data: PartitionData = response.responses[0].partitions[0]
    return data


def last_offset(data: PartitionData) -> int:
    assert isinstance(data.records, memoryview | bytes)
    return [header.last_offset for _, header in iterate_headers(data.records)][-1]


def test_the_leader_sends_consumers_to_their_own_rack(cluster: RunningCluster) -> None:
    found = ask(cluster, 0, rack="rack-2")
    assert (found.error_code, found.preferred_read_replica) == (ErrorCode.NONE, 2)
    assert not found.records
    assert found.high_watermark == 2


@pytest.mark.parametrize("rack", ["", "rack-0", "elsewhere"])
def test_the_leader_serves_all_others_itself(cluster: RunningCluster, rack: str) -> None:
    found = ask(cluster, 0, rack=rack)
    assert found.preferred_read_replica == -1
    assert last_offset(found) == 1


def test_a_follower_serves_what_it_knows_to_be_committed(cluster: RunningCluster) -> None:
    # Long before the followers' requests would end by themselves.
    cluster.wait_for(
        lambda _: cluster[2].broker.replicas.replica(TOPIC).log.high_watermark == 2, timeout_s=4
    )
    found = ask(cluster, 2, rack="rack-2")
    assert (found.error_code, found.preferred_read_replica) == (ErrorCode.NONE, -1)
    assert last_offset(found) == 1


def test_older_versions_are_for_the_leader_alone(cluster: RunningCluster) -> None:
    found = ask(cluster, 2, version=LAST_VERSION_WITHOUT_FOLLOWERS)
    assert found.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
