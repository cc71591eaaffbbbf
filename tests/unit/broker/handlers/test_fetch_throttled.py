"""Fetch (key 1) of followers that are catching up, at the rate that the leader allows."""

import pytest

from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from moldau.testing.cluster import RunningCluster, running_cluster
from moldau.testing.wire import WireClient
from unit.broker.ways import Way, take
from unit.testing.requests import batch, produce

NAME = TopicPartition("t", 0)
TOPIC, BROKER = 2, 4
MEGABYTE = 2**20 - 1024


def set_config(cluster: RunningCluster, kind: int, resource: str, name: str, value: str) -> None:
    config = AlterableConfig(name=name, config_operation=0, value=value)
    asked = AlterConfigsResource(resource_type=kind, resource_name=resource, configs=[config])
    with WireClient(cluster[0].address) as client:
        response = client.ask(
            IncrementalAlterConfigsRequest(resources=[asked], validate_only=False)
        )
    assert response.responses[0].error_code == ErrorCode.NONE


@pytest.mark.parametrize("way", [Way.HANDLER, Way.FAST])
def test_a_replica_that_catches_up_does_so_at_the_rate_allowed(way: Way) -> None:
    with running_cluster(2) as cluster:
        cluster.look(lambda _: take(way, cluster[0].running.dispatcher))
        cluster.create_topic("t", replicas={0: (0, 1)})
        cluster[1].kill()
        cluster.wait_for_in_sync("t", 0, 1)
        with WireClient(cluster[0].address) as client:
            for _ in range(4):
                client.ask(produce("t", batch(bytes(MEGABYTE))))
        set_config(cluster, TOPIC, "t", "leader.replication.throttled.replicas", "0:0")
        set_config(cluster, BROKER, "0", "leader.replication.throttled.rate", "150000")
        cluster[1].start()
        leader = cluster[0].broker

        def is_held_up(_: RunningCluster) -> bool:
            now_ms = leader.clock.monotonic_ms()
            return leader.leader_throttle.holds_up(leader.replicas.replica(NAME), now_ms=now_ms)

        cluster.wait_for(is_held_up)
        assert cluster.in_sync("t") == (0,)
        assert cluster.look(lambda _: _log_end(cluster, 1)) < 4
        set_config(cluster, BROKER, "0", "leader.replication.throttled.rate", str(2**40))
        cluster.wait_for_in_sync("t", 0, 2)


def _log_end(cluster: RunningCluster, broker: int) -> int:
    return cluster[broker].broker.replicas.replica(NAME).log.log_end_offset
