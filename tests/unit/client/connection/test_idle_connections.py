"""Connections over which nothing goes are closed, and opened again when they are needed."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moldau.client.connection.cluster import Cluster
from moldau.client.connection.connection import BrokerConnection
from moldau.client.connection.idle_connections import IdleConnections
from moldau.client.connection.opening import OpenBroker
from moldau.client.connection.versions import BrokerVersions
from moldau.client.settings import ClientSettings
from moldau.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from moldau.testing.broker import EmbeddedBroker
from unit.client.scripted import scripted_broker
from unit.waiting import until

NODE, LATER_MS, LOOKS = 0, 3_600_000, 5


@pytest.fixture
async def cluster(kafka: EmbeddedBroker) -> AsyncIterator[Cluster]:
    cluster = Cluster(ClientSettings(bootstrap_servers=kafka.bootstrap_servers))
    await cluster.refresh()
    yield cluster
    cluster.close()


async def test_a_connection_is_closed_that_is_idle_at_every_look(cluster: Cluster) -> None:
    brokers = {NODE: await cluster.broker(NODE)}
    connection = brokers[NODE].connection
    idle = IdleConnections(brokers, LATER_MS)
    for _ in range(LOOKS - 1):
        idle.look()
    await cluster.ask(NODE, ListGroupsRequest(), ListGroupsResponse)
    for _ in range(LOOKS - 1):
        idle.look()
        assert connection.is_open
    idle.look()
    assert not connection.is_open
    assert not brokers
    idle.stop()


async def test_a_connection_is_not_idle_that_waits_for_an_answer() -> None:
    loop = asyncio.get_running_loop()
    async with scripted_broker(lambda _: b"") as address:
        _, connection = await loop.create_connection(
            lambda: BrokerConnection("silent", "test"), address.host, address.port
        )
        answers: list[object] = []
        connection.post(ListGroupsRequest(), 0, answers.append, timeout_s=600)
        idle = IdleConnections({NODE: OpenBroker(connection, BrokerVersions({}))}, LATER_MS)
        for _ in range(3 * LOOKS):
            idle.look()
        assert connection.is_open
        assert not answers
        idle.stop()
        connection.close()


async def test_what_was_closed_is_opened_again(kafka: EmbeddedBroker) -> None:
    servers = kafka.bootstrap_servers
    cluster = Cluster(ClientSettings(bootstrap_servers=servers, connections_max_idle_ms=40))
    await cluster.refresh()
    idle = (await cluster.broker(NODE)).connection
    await until(lambda: not idle.is_open)
    assert (await cluster.broker(NODE)).connection is not idle
    cluster.close()
