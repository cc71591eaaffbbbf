"""A cluster on one machine; its brokers are processes, as elsewhere."""

import asyncio
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.apache.broker import free_port
from moldau.coordination.journal import StoreError, TreeJournal
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from moldau.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from moldau.supervisor.plan import ClusterWish
from moldau.supervisor.running import running_brokers
from moldau.testing.wire import WireClient
from moldau.zookeeper.messages import Err, Op
from moldau.zookeeper.rights import OPEN
from moldau.zookeeper.snapshot import SnapshotNode, write_store
from moldau.zookeeper.wire_session import WireSession
from unit.zookeeper.asking import create, watched
from unit.zookeeper.serving import blocking, served

_PATIENCE_S = 60
_EPHEMERAL = 1


def wish(tmp_path: Path, *ports: int) -> ClusterWish:
    return ClusterWish(len(ports), tmp_path, "127.0.0.1", ports, {})


def is_registered(tree: str, broker_id: int) -> bool:
    host, _, port = tree.partition(":")
    with WireSession(host, int(port)) as session:
        asked = session.ask(Op.EXISTS, watched(f"/brokers/ids/{broker_id}"))[-1]
        session.close()
    return asked.error == Err.OK


def ports_told(host: str, port: int) -> list[int]:
    """Where the brokers are that whoever answers there tells of."""
    with WireClient(f"{host}:{port}") as client:
        answer = client.ask(MetadataRequest(topics=[]), version=1)
    return sorted(broker.port for broker in answer.brokers)


async def test_a_broker_that_is_killed_is_gone_at_once_and_comes_back(tmp_path: Path) -> None:
    shared, *own = free_ports(3)
    wanted = ClusterWish(2, tmp_path, "localhost", own, {}, shared_port=shared)
    async with asyncio.timeout(_PATIENCE_S), running_brokers(wanted) as cluster:
        await cluster.up()
        assert await blocking(lambda: ports_told("127.0.0.1", shared)) == sorted(own)
        assert await blocking(lambda: is_registered(cluster.tree, 1))
        process = cluster.children[1]._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()
        while await blocking(lambda: is_registered(cluster.tree, 1)):
            assert not cluster.children[1].is_up.is_set()
        # Whoever is left answers, at every address.
        for host in ("127.0.0.1", "::1"):
            assert set(await blocking(lambda: ports_told(host, shared))) <= set(own)  # noqa: B023
        await cluster.up()
        assert await blocking(lambda: is_registered(cluster.tree, 1))
        assert [child.restarts for child in cluster.children] == [0, 1]


def register(port: int, broker_id: int) -> None:
    """As a broker does, whose process then dies."""
    with WireSession("127.0.0.1", port) as session:
        for path in ("/brokers", "/brokers/ids"):
            session.ask(Op.CREATE, create(path))
        session.ask(Op.CREATE, create(f"/brokers/ids/{broker_id}", flags=_EPHEMERAL))


async def test_registrations_of_an_earlier_start_are_gone_at_once(tmp_path: Path) -> None:
    async with served(tmp_path / "tree.sqlite") as (_, port):
        await blocking(lambda: register(port, 5))
    async with running_brokers(wish(tmp_path, *free_ports(1))) as cluster:
        assert not await blocking(lambda: is_registered(cluster.tree, 5))


def make_topic(ports: Sequence[int], replicas: int) -> None:
    topic = CreatableTopic(
        name="t", num_partitions=1, replication_factor=replicas, assignments=[], configs=[]
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=5_000)
    codes = set()
    for port in ports:
        with WireClient(f"127.0.0.1:{port}") as client:
            codes.add(client.ask(request, version=4).topics[0].error_code)
    assert codes == {ErrorCode.NONE, ErrorCode.NOT_CONTROLLER}


def in_sync(port: int) -> set[int]:
    wanted = [MetadataRequestTopic(name="t")]
    request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
    with WireClient(f"127.0.0.1:{port}") as client:
        (topic,) = client.ask(request, version=5).topics
    return {number for each in topic.partitions for number in each.isr_nodes}


async def test_brokers_do_not_need_the_address_that_clients_get(tmp_path: Path) -> None:
    own = free_ports(2)
    wanted = ClusterWish(2, tmp_path, "127.0.0.1", own, {}, advertised_host="nowhere.invalid")
    async with asyncio.timeout(_PATIENCE_S), running_brokers(wanted) as cluster:
        await cluster.up()
        await blocking(lambda: make_topic(own, 2))
        for port in own:  # one of them hears of it from the other, the controller
            while await blocking(lambda: in_sync(port)) != {0, 1}:  # noqa: B023
                pass


async def test_a_second_one_on_the_same_directory_is_refused(tmp_path: Path) -> None:
    with TreeJournal(str(tmp_path / "tree.sqlite")), pytest.raises(StoreError, match="in use"):
        async with running_brokers(wish(tmp_path, 1)):
            pass


async def test_fewer_brokers_than_the_partitions_need_are_refused(tmp_path: Path) -> None:
    nodes = [
        SnapshotNode("/brokers", None, OPEN),
        SnapshotNode("/brokers/topics", None, OPEN),
        SnapshotNode("/brokers/topics/t", b'{"partitions":{"0":[1]}}', OPEN),
    ]
    write_store(str(tmp_path / "tree.sqlite"), nodes, now_ms=0)
    with pytest.raises(KafkaError, match="no replica left: t-0"):
        async with running_brokers(wish(tmp_path, 1)):
            pass


def free_ports(count: int) -> list[int]:
    return [free_port() for _ in range(count)]
