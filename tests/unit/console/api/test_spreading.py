"""Many partitions are spread by one plan, and moved by another request."""

from collections.abc import AsyncIterator, Iterator
from functools import partial

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.configs import ConfigResource
from moldau.client.admin.throttles import RATES
from moldau.console.api.spreading import PARTITIONS_MAX, brokers_of, refuse_too_many, topics_of
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.testing.cluster import RunningCluster, running_cluster
from moldau.testing.control import Fail
from moldau.web.errors import WebError
from unit.console.asking import Asking, asking
from unit.waiting import until


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    with running_cluster(2) as running:
        yield running


@pytest.fixture
async def console(cluster: RunningCluster) -> AsyncIterator[Asking]:
    async with asking({"local": {"bootstrap.servers": cluster.bootstrap_servers}}) as found:
        yield found


def crowd(cluster: RunningCluster, name: str) -> None:
    """A topic whose four partitions are all on broker 0."""
    cluster.create_topic(name, replicas=dict.fromkeys(range(4), (0,)))


async def test_half_of_a_crowded_broker_is_moved(console: Asking, cluster: RunningCluster) -> None:
    crowd(cluster, "crowded")
    found = await console.send("POST", "/reassignments/spread", {"topics": ["crowded"]})
    assert [each["id"] for each in found["brokers"]] == [0, 1]
    assert [each["replicas"] for each in found["brokers"]] == [[4, 2], [0, 2]]
    assert [each["leads"] for each in found["brokers"]] == [[4, 2], [0, 2]]
    assert [(each["old"], each["new"]) for each in found["moves"]] == [([0], [1])] * 2
    moves = [
        {"topic": each["topic"], "partition": each["partition"], "replicas": each["new"]}
        for each in found["moves"]
    ]
    begun = {"moves": moves, "bytes_per_s": 1_000_000}
    assert await console.send("POST", "/reassignments", begun) == {"begun": 2}
    for each in found["moves"]:
        await until(partial(_is_moved, cluster, each["partition"]))
    async with Admin(bootstrap_servers=cluster.bootstrap_servers) as admin:
        resource = ConfigResource.broker(1)
        limits = (await admin.describe_configs({resource: list(RATES)}))[resource]
    assert {each.value for each in limits.values()} == {"1000000"}
    again = await console.send("POST", "/reassignments/spread", {"topics": ["crowded"]})
    assert again["moves"] == [], "what is even stays"


def _is_moved(cluster: RunningCluster, partition: int) -> bool:
    return cluster.in_sync("crowded", partition) == (1,)


async def test_a_broker_that_is_left_out_is_emptied(
    console: Asking, cluster: RunningCluster
) -> None:
    crowd(cluster, "leaving")
    wanted = {"topics": ["leaving"], "brokers": [1]}
    found = await console.send("POST", "/reassignments/spread", wanted)
    assert [each["replicas"] for each in found["brokers"]] == [[4, 0], [0, 4]]


async def test_all_topics_are_meant_if_none_is_named(
    console: Asking, cluster: RunningCluster
) -> None:
    crowd(cluster, "unnamed")
    found = await console.send("POST", "/reassignments/spread", {})
    assert sum(each["replicas"][0] for each in found["brokers"]) >= 4


async def test_no_plan_is_made_while_partitions_move(
    console: Asking, cluster: RunningCluster
) -> None:
    crowd(cluster, "moving")
    end = cluster[0].control("Fetch", lambda _: Fail(ErrorCode.UNKNOWN_SERVER_ERROR))
    named = {"topic": "moving", "partition": 0}
    await console.send("POST", "/reassignments", {"moves": [{**named, "replicas": [1]}]})
    status, message = await console.refused("POST", "/reassignments/spread", {})
    assert (status, "being moved" in message) == (409, True)
    await console.send("POST", "/reassignments/cancel", {"partitions": [named]})
    end()


async def test_what_is_not_there_is_refused(console: Asking) -> None:
    refused = await console.refused("POST", "/reassignments/spread", {"brokers": [7]})
    assert refused == (409, "there is no broker 7")
    assert (await console.refused("POST", "/reassignments/spread", {"topics": ["none"]}))[0] == 404


def test_bodies_name_what_is_wrong() -> None:
    for brokers in ("0", [-1], [True]):
        with pytest.raises(WebError, match=r"^brokers:"):
            brokers_of({"brokers": brokers})
    for topics in ("t", [""], [1]):
        with pytest.raises(WebError, match=r"^topics:"):
            topics_of({"topics": topics})


def test_more_than_can_be_planned_soon_is_refused() -> None:
    partitions = [TopicPartition("t", each) for each in range(PARTITIONS_MAX + 1)]
    refuse_too_many(partitions[1:])
    with pytest.raises(WebError, match="moldau rebalance"):
        refuse_too_many(partitions)
