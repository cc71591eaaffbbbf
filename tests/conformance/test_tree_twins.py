"""What a broker of Apache's and one of ours write into an empty ZooKeeper: the same, byte for byte.

A node without data is not one with empty data: Apache's brokers read the first as "not there yet"
and fail on the second. So the comparison tells null from empty, and looks at access rules, too.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from kazoo.client import KazooClient

from conformance.admin_questions import questions
from conformance.apache.broker import ApacheBroker, zookeeper
from conformance.apache.cache import exclusive
from conformance.apache.marks import needs_apache
from conformance.our_broker import our_broker
from conformance.our_cluster import until
from moldau.errors import ErrorCode
from moldau.protocol.messages.delete_topics import DeleteTopicsRequest
from moldau.protocol.messages.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.init_producer_id import InitProducerIdRequest
from moldau.testing.wire import WireClient

pytestmark = needs_apache("kafka-3.9")

# What two clusters never have in common.
_DRAWN = re.compile(rb'(?<="topic_id":")[\w-]{22}(?=")|(?<="id":")[\w-]{22}(?=")')
_CLAIMS_AT_START = ("2.4", "2.8")
_PRODUCER_IDS = "/latest_producer_id_block"
_SETTINGS = re.compile(rb'(?<="config":{).*(?=}}$)')
_NOT_ASKED = {
    "create: no such broker": "ours creates no topic that nobody can lead",
    "reassign: a to [1]": "Apache's gives a partition that moves nowhere a new leader epoch",
}


class Node(NamedTuple):
    """What is compared of a node."""

    data: bytes | None
    acls: tuple[str, ...]


Tree = dict[str, Node]


class Stages(NamedTuple):
    """What stands in ZooKeeper, from time to time."""

    started: Tree
    used: Tree
    deleted: Tree


@pytest.mark.parametrize("protocol", ["2.4", "2.8", "3.9"])
def test_the_nodes_of_a_new_cluster_are_those_of_apache(protocol: str, tmp_path: Path) -> None:
    with exclusive("broker"), zookeeper(tmp_path / "zookeeper") as port:
        settings = {
            # It becomes 1, and is drawn from a node.
            "broker.id": "-1",
            "reserved.broker.max.id": "0",
            "inter.broker.protocol.version": protocol,
            "auto.create.topics.enable": "false",
            "num.partitions": "1",
            "offsets.topic.num.partitions": "2",
            "offsets.topic.replication.factor": "1",
            "message.max.bytes": "1048588",
        }
        theirs = _their_stages(tmp_path / "apache", port, settings)
        ours = _our_stages(tmp_path / "ours", port, settings)
    if protocol in _CLAIMS_AT_START:
        # Apache's claims its first producer ids when it starts, ours when they are asked for.
        theirs.started[_PRODUCER_IDS] = theirs.started[_PRODUCER_IDS]._replace(data=None)
    for our_tree, their_tree in zip(ours, theirs, strict=True):
        assert _differences(our_tree, their_tree) == {}


def _differences(ours: Tree, theirs: Tree) -> dict[str, tuple[Node | None, Node | None]]:
    """What stands here and there at each path where that is not the same."""
    return {
        path: (ours.get(path), theirs.get(path))
        for path in sorted(ours.keys() | theirs.keys())
        if ours.get(path) != theirs.get(path)
    }


def _their_stages(directory: Path, port: int, settings: dict[str, str]) -> Stages:
    directory.mkdir()
    connect = f"127.0.0.1:{port}/apache"
    apache = ApacheBroker(directory, port, {**settings, "zookeeper.connect": connect})
    apache.start()
    try:
        return _stages(apache.bootstrap, connect)
    finally:
        apache.kill()


def _our_stages(directory: Path, port: int, settings: dict[str, str]) -> Stages:
    connect = f"127.0.0.1:{port}/ours"
    with our_broker(directory, {**settings, "zookeeper.connect": connect}) as broker:
        return _stages(broker.bootstrap, connect)


def _stages(bootstrap: str, connect: str) -> Stages:
    """Play the day of an administrator, whose last deed is to delete topics."""
    with _looking(connect) as tree, WireClient(bootstrap, timeout_s=20) as client:
        started = _persistent(tree)
        until(lambda: _has_producer_id(client), "there are producer ids")
        until(lambda: _has_coordinator(client), "the group has a coordinator")
        asked = [request for name, request in questions() if name not in _NOT_ASKED]
        last = next(at for at, one in enumerate(asked) if isinstance(one, DeleteTopicsRequest))
        for request in asked[:last]:
            client.ask(request)
        used = _persistent(tree)
        for request in asked[last:]:
            client.ask(request)
        until(lambda: not tree.get_children("/admin/delete_topics"), "topics are deleted")
        return Stages(started, used, _persistent(tree))


def _has_producer_id(client: WireClient) -> bool:
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
    return bool(client.ask(request).error_code == ErrorCode.NONE)


def _has_coordinator(client: WireClient) -> bool:
    answer = client.ask(FindCoordinatorRequest(coordinator_keys=["g"]))
    return bool(answer.coordinators[0].error_code == ErrorCode.NONE)


@contextmanager
def _looking(connect: str) -> Iterator[KazooClient]:
    tree = KazooClient(connect)
    tree.start()
    try:
        yield tree
    finally:
        tree.stop()
        tree.close()


def _persistent(tree: KazooClient, path: str = "/") -> Tree:
    """All nodes that outlive sessions, but for what is drawn by lot."""
    data, stat = tree.get(path)
    if stat.ephemeralOwner:
        return {}
    acls, _ = tree.get_acls(path)
    told = tuple(f"{acl.id.scheme}:{acl.id.id} {acl.perms}" for acl in acls)
    found = {path: Node(None if data is None else _comparable(data), told)}
    for name in sorted(tree.get_children(path)):
        found.update(_persistent(tree, f"{path.rstrip('/')}/{name}"))
    return found


def _comparable(data: bytes) -> bytes:
    """Without what is drawn; Java's order of settings is that of their hashes."""
    return _SETTINGS.sub(_sorted, _DRAWN.sub(b"?", data))


def _sorted(settings: re.Match[bytes]) -> bytes:
    return b',"'.join(sorted(settings[0].removeprefix(b'"').split(b',"')))
