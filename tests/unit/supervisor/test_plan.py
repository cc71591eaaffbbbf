"""Which brokers make up a cluster, and what each of them is told."""

from pathlib import Path

import pytest

from moldau.config.broker.startup import read_startup
from moldau.coordination.nodes import NodeRow
from moldau.errors import KafkaError
from moldau.supervisor.plan import (
    ClusterWish,
    check_nothing_is_lost,
    check_wish,
    lost_partitions,
    ports_of,
    settings_of,
)

TREE = "127.0.0.1:1"


def wish(count: int = 3, host: str = "localhost", texts: str = "") -> ClusterWish:
    named = dict(each.split("=") for each in texts.split())
    return ClusterWish(count, Path("/data"), host, range(9092, 9092 + count), named)


def test_each_broker_has_its_id_its_port_and_its_directory() -> None:
    found = [settings_of(wish(), each, TREE) for each in range(3)]
    assert [each["broker.id"] for each in found] == ["0", "1", "2"]
    assert found[2]["listeners"] == "PLAINTEXT://localhost:9094"
    assert found[2]["log.dirs"] == "/data/broker-2"
    assert "advertised.listeners" not in found[2]
    assert {each["zookeeper.connect"] for each in found} == {TREE}
    for each in found:
        read_startup(each)


@pytest.mark.parametrize(
    ("count", "replicas", "in_sync"), [(1, "1", "1"), (2, "2", "2"), (5, "3", "2")]
)
def test_internal_topics_have_as_many_copies_as_there_can_be(
    count: int, replicas: str, in_sync: str
) -> None:
    found = settings_of(wish(count), 0, TREE)
    assert found["offsets.topic.replication.factor"] == replicas
    assert found["transaction.state.log.min.isr"] == in_sync


def test_what_the_user_sets_is_taken_by_all() -> None:
    found = settings_of(wish(texts="offsets.topic.replication.factor=1"), 1, TREE)
    assert found["offsets.topic.replication.factor"] == "1"


def test_addresses_may_be_of_ipv6_and_others_than_clients_are_told() -> None:
    asked = ClusterWish(1, Path("/d"), "::1", [9092], {}, advertised_host="fe80::2")
    found = settings_of(asked, 0, TREE)
    assert found["listeners"] == "PLAINTEXT://[::1]:9092,INTERNAL://127.0.0.1:0"
    told = "PLAINTEXT://[fe80::2]:9092,INTERNAL://127.0.0.1:0"
    assert found["advertised.listeners"] == told
    # What clients are told may lead nowhere from here.
    assert read_startup(found).listeners.inter_broker_name == "INTERNAL"
    assert settings_of(wish(host=""), 0, TREE)["listeners"] == "PLAINTEXT://:9092"


@pytest.mark.parametrize(
    ("host", "advertised", "own", "shared", "told"),
    [
        ("localhost", "", "localhost:9094", "localhost:9092", "localhost"),
        ("::1", "", "[::1]:9094", "[::1]:9092", "::1"),
        ("", "", ":9094", ":9092", ""),
        ("::1", "example.org", "[::1]:9094", "[::1]:9092", "example.org"),
    ],
)
def test_any_of_them_answers_on_the_shared_port_and_tells_of_its_own(
    host: str, advertised: str, own: str, shared: str, told: str
) -> None:
    asked = ClusterWish(
        2, Path("/d"), host, [9093, 9094], {}, advertised_host=advertised, shared_port=9092
    )
    found = settings_of(asked, 1, TREE)
    assert found["listeners"].startswith(f"PLAINTEXT://{own},SHARED://{shared}")
    listeners = read_startup(found).listeners
    assert listeners.advertised is not None
    for_clients = [one for one in listeners.advertised if one.name != "INTERNAL"]
    assert {(one.host, one.port) for one in for_clients} == {(told, 9094)}
    assert [one.name for one in for_clients] == ["PLAINTEXT", "SHARED"]
    # Brokers call each other on ports that nobody else answers on.
    assert listeners.inter_broker_name == ("INTERNAL" if advertised else "PLAINTEXT")


def test_a_map_of_protocols_of_the_user_is_kept() -> None:
    texts = {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,X:SSL"}
    asked = ClusterWish(1, Path("/d"), "", [9093], texts, shared_port=9092)
    found = settings_of(asked, 0, TREE)["listener.security.protocol.map"]
    assert found == "PLAINTEXT:PLAINTEXT,X:SSL,SHARED:PLAINTEXT"


def test_the_shared_port_is_nobody_s_own() -> None:
    with pytest.raises(KafkaError, match="--port 5 is where any broker answers"):
        check_wish(ClusterWish(1, Path("/d"), "", [5], {}, shared_port=5))


@pytest.mark.parametrize(
    ("port", "why"),
    [(70_000, "not between"), (-1, "not between"), (4, "a port of"), (5, "a port of")],
)
def test_the_tree_has_a_port_of_its_own(port: int, why: str) -> None:
    with pytest.raises(KafkaError, match=f"--tree-port {port} is {why}"):
        check_wish(ClusterWish(1, Path("/d"), "", [5], {}, shared_port=4, tree_port=port))


@pytest.mark.parametrize("name", ["broker.id", "listeners", "log.dirs", "zookeeper.connect"])
def test_what_each_has_for_itself_cannot_be_set_for_all(name: str) -> None:
    with pytest.raises(KafkaError, match="each broker has its own"):
        check_wish(wish(texts=f"{name}=1"))


@pytest.mark.parametrize("count", [0, 65])
def test_there_are_neither_none_nor_too_many(count: int) -> None:
    with pytest.raises(KafkaError, match="--brokers must be from 1 to 64"):
        check_wish(wish(count))


def test_ports_are_those_that_are_given_or_one_after_the_other() -> None:
    assert ports_of(3, 9092, []) == [9093, 9094, 9095]
    assert ports_of(2, 9092, [5, 7]) == [5, 7]
    with pytest.raises(KafkaError, match="--ports names 1 ports for 2 brokers"):
        ports_of(2, 9092, [5])
    for ports in ([5, 5], [5, 70_000]):
        with pytest.raises(KafkaError, match="2 different ports"):
            ports_of(2, 9092, ports)


def topic(name: str, partitions: str) -> NodeRow:
    data = f'{{"version":2,"partitions":{partitions}}}'.encode()
    return NodeRow(f"/brokers/topics/{name}", data, 1, 1, 0, 0, 0, 0, 0)


ROWS = [
    NodeRow("/brokers/topics", None, 1, 1, 0, 0, 0, 0, 0),
    topic("a", '{"0":[0,2],"1":[2],"2":[2,1]}'),
    topic("b", '{"0":[2,3]}'),
    NodeRow("/brokers/topics/a/partitions", None, 1, 1, 0, 0, 0, 0, 0),
]


def test_with_fewer_brokers_it_is_said_what_would_be_lost() -> None:
    assert lost_partitions(ROWS, 4) == []
    assert lost_partitions(ROWS, 2) == ["a-1", "b-0"]
    check_nothing_is_lost(ROWS, 3)
    with pytest.raises(KafkaError, match=r"with --brokers 2, 2 partitions .* left: a-1, b-0\. "):
        check_nothing_is_lost(ROWS, 2)
