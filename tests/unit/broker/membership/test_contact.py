"""Contacts: brokers that answer, refuse, or are silent."""

import asyncio
import socket

import pytest

from moldau.broker.membership.contact import LIMITS, contacts
from moldau.controller.cluster import Listening, LiveBroker
from moldau.net.channel import Channel
from moldau.testing.broker import EmbeddedBroker

PATIENCE_S = 30


@pytest.fixture
def port(kafka: EmbeddedBroker) -> int:
    return int(kafka.bootstrap_servers.rpartition(":")[2])


def broker_at(port: int, listener: str = "INTERNAL") -> LiveBroker:
    return LiveBroker(
        1, 5, (Listening("OTHER", "", 0, 0), Listening(listener, "127.0.0.1", port, 0))
    )


def open_channel(host: str, port: int) -> Channel:
    return Channel(host, port, "broker-2-watch", limits=LIMITS)


async def test_a_broker_answers_and_its_end_is_noticed(kafka: EmbeddedBroker, port: int) -> None:
    contact = contacts("INTERNAL", open_channel)(broker_at(port))
    await contact.call()
    ending = asyncio.create_task(contact.until_lost())
    await asyncio.to_thread(kafka.stop)
    await asyncio.wait_for(ending, PATIENCE_S)
    with pytest.raises(ConnectionRefusedError):
        await contact.call()
    contact.close()


async def test_a_port_that_is_open_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        contact = contacts("INTERNAL", open_channel)(broker_at(server.getsockname()[1]))
        calling = asyncio.create_task(contact.call())
        accepted, _ = await asyncio.to_thread(server.accept)
        accepted.close()
        with pytest.raises(ConnectionError) as lost:
            await calling
        assert not isinstance(lost.value, ConnectionRefusedError)
        contact.close()


async def test_a_broker_without_such_a_listener_cannot_be_reached() -> None:
    contact = contacts("INTERNAL", open_channel)(broker_at(1, "EXTERNAL"))
    with pytest.raises(ConnectionError, match="no listener for other brokers"):
        await contact.call()
    await contact.until_lost()
    contact.close()
