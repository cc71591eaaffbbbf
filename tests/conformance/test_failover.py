"""Processes that die: others take over long before a session ends, on whatever tree."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from conformance.apache.broker import zookeeper
from conformance.apache.marks import needs_apache
from conformance.our_cluster import DEADLINE_S, OurCluster, our_cluster, until
from conformance.our_tree import our_tree

# Nobody waits for it here: so long that even a machine with much other work is sooner.
SESSION_S = 60.0
# Well under a second where nothing else runs; a session ends after two thirds of its time at least.
AT_ONCE_S = 36.0
SETTINGS = {"zookeeper.session.timeout.ms": str(int(SESSION_S * 1000))}
TREE_SETTINGS = f"maxSessionTimeout={int(SESSION_S * 1000)}\n"
TOPIC = "failover"


@contextmanager
def own_tree(directory: Path) -> Iterator[int]:
    with our_tree(directory, TREE_SETTINGS) as tree:
        yield tree.port


@contextmanager
def apaches_tree(directory: Path) -> Iterator[int]:
    with zookeeper(directory, TREE_SETTINGS) as port:
        yield port


TREES = {"zookeeper": apaches_tree, "own": own_tree}


@pytest.fixture(
    scope="module", params=[pytest.param("zookeeper", marks=needs_apache("kafka-3.9")), "own"]
)
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OurCluster]:
    directory = tmp_path_factory.mktemp("cluster")
    with our_cluster(directory, SETTINGS, serve_tree=TREES[request.param]) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        admin.create_topics([NewTopic(TOPIC, 1, 3)])[TOPIC].result(DEADLINE_S)
        yield cluster


@pytest.fixture
def cluster(shared: OurCluster) -> OurCluster:
    shared.start()
    shared.until_in_sync(TOPIC)
    return shared


def seconds_until(look: Callable[[], object], what: str) -> float:
    began_s = time.monotonic()
    until(look, what)
    return time.monotonic() - began_s


def test_a_leader_that_is_killed_is_replaced_at_once(cluster: OurCluster) -> None:
    before = cluster.state(TOPIC)
    cluster.brokers[before.leader].kill()

    def is_replaced() -> bool:
        return cluster.state(TOPIC).leader not in (before.leader, -1)

    assert seconds_until(is_replaced, "another leader") < AT_ONCE_S
    # Its session stands, but that keeps nobody waiting.
    assert before.leader in cluster.live()
    assert cluster.state(TOPIC).leader_epoch > before.leader_epoch


def test_a_controller_that_is_killed_is_replaced_at_once(cluster: OurCluster) -> None:
    first, epoch = until(cluster.controller, "a controller"), cluster.controller_epoch()
    cluster.brokers[first].kill()
    taken_s = seconds_until(lambda: cluster.controller() not in (first, None), "another controller")
    assert taken_s < AT_ONCE_S
    assert first in cluster.live()
    assert cluster.controller_epoch() == epoch + 1


@pytest.mark.parametrize("is_controller", [True, False])
def test_a_broker_that_is_started_again_does_not_wait_for_its_last_session(
    is_controller: bool, cluster: OurCluster
) -> None:
    controller = until(cluster.controller, "a controller")
    number = controller if is_controller else next(one for one in (1, 2) if one != controller)
    _, before = cluster.tree.get(f"/brokers/ids/{number}")
    began_s = time.monotonic()
    cluster.brokers[number].kill()
    cluster.brokers[number].start()
    cluster.until_in_sync(TOPIC)
    assert time.monotonic() - began_s < AT_ONCE_S
    _, after = cluster.tree.get(f"/brokers/ids/{number}")
    assert after.czxid > before.czxid
    assert after.ephemeralOwner != before.ephemeralOwner
    assert cluster.live() == {1, 2, 3}
    assert cluster.controller() is not None
