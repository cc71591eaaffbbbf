"""Spread partitions over the brokers of a cluster."""

from collections.abc import Iterator

import pytest

from moldau.testing.cluster import RunningCluster, running_cluster
from unit.cli.command import Done, run


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    with running_cluster(3) as cluster:
        yield cluster


def rebalance(cluster: RunningCluster, *arguments: str) -> Done:
    return run("rebalance", "--bootstrap-server", cluster.bootstrap_servers, *arguments)


def test_partitions_go_to_the_brokers_that_have_none_and_back(cluster: RunningCluster) -> None:
    first = min(broker.id for broker in cluster)
    server = f"--bootstrap-server={cluster.bootstrap_servers}"
    places = ",".join([str(first)] * 6)
    assert (
        run("topics", server, "--create", "--topic", "t", "--replica-assignment", places).code == 0
    )
    planned = rebalance(cluster, "--dry-run", "--topic", "t")
    assert "4 partitions change" in planned.stdout
    assert {cluster.leader("t", each) for each in range(6)} == {first}
    done = rebalance(cluster, "--topic", "t", "--throttle", "100000000", "--at-once", "2")
    assert (done.code, done.stderr) == (0, "")
    assert "4 partitions are where they should be" in done.stdout
    leaders = [cluster.leader("t", each) for each in range(6)]
    assert sorted(map(leaders.count, set(leaders))) == [2, 2, 2]
    assert "nothing to move" in rebalance(cluster, "--topic", "t").stdout
    configs = run("configs", server, "--describe", "--topic", "t").stdout
    assert "throttled" not in configs
    emptied = rebalance(cluster, "--topic", "t", "--brokers", str(first))
    assert emptied.code == 0
    assert {cluster.leader("t", each) for each in range(6)} == {first}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--brokers", "77"), "77 is not in the cluster"),
        (("--brokers", "a"), "a is no list of numbers"),
        (("--topic", "nope"), "Topic nope: "),
    ],
)
def test_what_is_not_there_is_told(
    cluster: RunningCluster, arguments: tuple[str, ...], why: str
) -> None:
    done = rebalance(cluster, *arguments)
    assert done.code == 1
    assert why in done.stderr
