"""A cluster is connected to when it is asked for, and may be down."""

import pytest

from moldau.console import cluster as module
from moldau.console.cluster import ConsoleCluster
from moldau.errors import ErrorCode, KafkaError
from moldau.testing.broker import EmbeddedBroker


async def test_all_requests_share_one_client(broker: EmbeddedBroker) -> None:
    cluster = ConsoleCluster("local", {"bootstrap.servers": broker.bootstrap_servers})
    first = await cluster.admin()
    assert await cluster.admin() is first
    await cluster.close()
    again = await cluster.admin()
    assert again is not first
    await cluster.close()


async def test_a_cluster_that_is_down_is_said_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONNECT_S", 0.2)
    cluster = ConsoleCluster("down", {"bootstrap.servers": "127.0.0.1:1"})
    with pytest.raises(KafkaError, match=r"127\.0\.0\.1:1") as refused:
        await cluster.admin()
    assert refused.value.code is ErrorCode.NETWORK_EXCEPTION
