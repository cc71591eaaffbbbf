"""The life of a client."""

import asyncio
import os

import pytest

from moldau.client.connection.cluster import Cluster
from moldau.client.lifetime import Lifetime
from moldau.client.settings import ClientSettings
from moldau.errors import NetworkException
from moldau.testing.broker import EmbeddedBroker


def cluster_of(kafka: EmbeddedBroker) -> Cluster:
    return Cluster(ClientSettings(bootstrap_servers=kafka.bootstrap_servers))


async def test_it_is_new_then_started_then_closed(kafka: EmbeddedBroker) -> None:
    lifetime = Lifetime("client")
    with pytest.raises(RuntimeError, match="the client is not started: use it within"):
        lifetime.check()
    assert not lifetime.close()
    await lifetime.begin(cluster_of(kafka))
    lifetime.check()
    assert not lifetime.is_working
    with pytest.raises(RuntimeError, match="was started before"):
        await lifetime.begin(cluster_of(kafka))
    assert lifetime.close()
    assert not lifetime.close()
    await lifetime.stop_working()
    with pytest.raises(RuntimeError, match="the client is closed"):
        lifetime.check()
    lifetime.cluster.close()


async def test_it_does_not_begin_where_nobody_is() -> None:
    lifetime = Lifetime("client")
    settings = ClientSettings(bootstrap_servers="127.0.0.1:1", request_timeout_ms=1)
    with pytest.raises(NetworkException):
        await lifetime.begin(Cluster(settings))
    with pytest.raises(RuntimeError, match="not started"):
        lifetime.check()


async def test_work_that_failed_is_the_reason_why_it_stopped(kafka: EmbeddedBroker) -> None:
    async def fail() -> None:
        raise ValueError("broken")

    lifetime = Lifetime("client")
    await lifetime.begin(cluster_of(kafka), fail)
    ended = asyncio.Event()
    lifetime.when_work_ends(ended.set)
    await ended.wait()
    assert not lifetime.is_working
    with pytest.raises(RuntimeError, match="has stopped") as caught:
        lifetime.check()
    assert isinstance(caught.value.__cause__, ValueError)
    lifetime.cluster.close()


async def test_work_ends_before_the_client_does(kafka: EmbeddedBroker) -> None:
    lifetime = Lifetime("client")

    async def wait() -> None:
        await asyncio.Event().wait()

    await lifetime.begin(cluster_of(kafka), wait)
    before = lifetime.is_working
    await lifetime.stop_working()
    assert (before, lifetime.is_working) == (True, False)
    lifetime.cluster.close()


async def test_a_fork_cannot_use_it(kafka: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    lifetime = Lifetime("client")
    await lifetime.begin(cluster_of(kafka))
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(RuntimeError, match="cannot be used after a fork"):
        lifetime.check()
    lifetime.cluster.close()
