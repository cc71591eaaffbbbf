"""Our tree in ZooKeeper's place: what clients see is what ZooKeeper shows them."""

import threading
from pathlib import Path

import pytest

from conformance.apache.broker import ApacheBroker, zookeeper
from conformance.apache.cache import exclusive
from conformance.apache.jvm import run_main
from conformance.apache.marks import needs_apache
from conformance.our_cluster import until
from conformance.our_tree import our_tree
from conformance.tree_day import TreeDay
from moldau.errors import ErrorCode
from moldau.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.testing.wire import WireClient
from moldau.zookeeper import jute
from moldau.zookeeper.messages import Err, Op
from moldau.zookeeper.snapshot import SnapshotNode, read_server
from moldau.zookeeper.wire_session import WireSession
from unit.zookeeper.asking import create, watched

pytestmark = needs_apache("kafka-3.9")

_DEEDS = 500
_SHELL = "org.apache.zookeeper.ZooKeeperMain"


@pytest.mark.parametrize("seed", range(2))
def test_two_sessions_see_and_hear_what_they_do_with_zookeeper(seed: int, tmp_path: Path) -> None:
    with zookeeper(tmp_path / "theirs") as port:
        expected = TreeDay(port, seed).play(_DEEDS)
    with our_tree(tmp_path / "ours") as ours:
        found = TreeDay(ours.port, seed).play(_DEEDS)
    assert found == expected


def test_apaches_shell_uses_it(tmp_path: Path) -> None:
    with our_tree(tmp_path / "tree") as tree:
        server = f"127.0.0.1:{tree.port}"
        made = run_main(_SHELL, "-server", server, "create", "/a", "data")
        assert "Created /a" in made.stdout + made.stderr
        read = run_main(_SHELL, "-server", server, "get", "-s", "/a")
        assert "data" in read.stdout
        assert "dataLength = 4" in read.stdout


def test_apache_kafka_uses_it_and_goes_on_when_it_was_killed(tmp_path: Path) -> None:
    with exclusive("broker"), our_tree(tmp_path / "tree") as tree:
        directory = tmp_path / "apache"
        directory.mkdir()
        broker = ApacheBroker(directory, tree.port, {})
        broker.start()
        try:
            _create_topic(broker.bootstrap, "before")
            tree.kill()
            tree.start()
            until(lambda: _has_topic(broker.bootstrap, "after"), "the broker has found it again")
            with WireSession("127.0.0.1", tree.port) as session:
                nodes = {node.path: node for node in read_server(session, "")}
                registered = session.ask(Op.EXISTS, watched("/brokers/ids/1"))[-1]
        finally:
            broker.kill()
    assert registered.error == Err.OK
    assert {"/brokers/topics/before", "/brokers/topics/after"} <= nodes.keys()
    _check_state(nodes["/brokers/topics/after/partitions/0/state"])


def test_what_was_answered_outlives_a_kill(tmp_path: Path) -> None:
    with our_tree(tmp_path / "tree") as tree:
        session = WireSession("127.0.0.1", tree.port)
        answered: list[str] = []
        killer = threading.Timer(0.5, tree.kill)
        killer.start()
        with pytest.raises(OSError, match=r"hung up|reset|refused|[Pp]ipe"):
            _create_on_and_on(session, answered)
        killer.join()
        tree.start()
        session.connect()
        names = session.ask(Op.GET_CHILDREN, watched("/"))[-1]
        session.close()
    assert answered
    for path in answered:
        assert jute.text(path[1:]) in names.body


def _create_on_and_on(session: WireSession, answered: list[str]) -> None:
    while True:
        reply = session.ask(Op.CREATE, create("/n", flags=2))[-1]
        assert reply.error == Err.OK
        answered.append(reply.body[4:].decode())


def _create_topic(bootstrap: str, name: str) -> int:
    topic = CreatableTopic(
        name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=5_000)
    with WireClient(bootstrap, timeout_s=20) as client:
        return int(client.ask(request, version=5).topics[0].error_code)


def _has_topic(bootstrap: str, name: str) -> bool:
    return _create_topic(bootstrap, name) in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)


def _check_state(node: SnapshotNode) -> None:
    assert node.data is not None
    assert b'"leader":1' in node.data
