"""Requests to brokers: to oneself without a socket, to others over one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from moldau.broker.membership.peers import PeerAddress, Peers
from moldau.errors import ErrorCode, KafkaError
from moldau.net.admission import Admission, ConnectionLimits
from moldau.net.answer import Limits
from moldau.net.channel import Channel
from moldau.net.listener import Endpoint, Listener
from moldau.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaResponse,
    StopReplicaTopicState,
)
from unit.broker.world import CLIENT, World, broker_world

REQUEST = StopReplicaRequest(
    controller_id=0,
    controller_epoch=9,
    topic_states=[
        StopReplicaTopicState(
            topic_name="t",
            partition_states=[StopReplicaPartitionState(partition_index=0, delete_partition=True)],
        )
    ],
)
HERE, THERE = 0, 5


@asynccontextmanager
async def listening(world: World) -> AsyncIterator[int]:
    """The broker of a world at a port, so that it can play another one."""
    listener = Listener(
        Endpoint("PLAINTEXT", "127.0.0.1", 0),
        lambda _connection: lambda frame: world.dispatcher.respond(CLIENT, frame),
        limits=Limits(),
        admission=Admission(ConnectionLimits()),
    )
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(listener.serve())
        try:
            yield listener.port
        finally:
            serving.cancel()
            listener.close()


def peers(world: World, addresses: dict[int, PeerAddress], protocol: str = "3.9") -> Peers:
    return Peers(HERE, world.dispatcher, addresses.get, protocol=protocol, open_channel=Channel)


async def test_a_request_to_oneself_needs_no_socket() -> None:
    async with broker_world() as world:
        made = peers(world, {})
        assert isinstance(await made.send(HERE, REQUEST), StopReplicaResponse)


@pytest.mark.parametrize("protocol", ["2.4", "3.9"])
async def test_others_are_asked_over_a_connection(protocol: str) -> None:
    async with broker_world() as world, listening(world) as port:
        made = peers(world, {THERE: PeerAddress("127.0.0.1", port)}, protocol)
        assert isinstance(await made.send(THERE, REQUEST), StopReplicaResponse)
        made.close()


async def test_a_broker_that_has_moved_is_found_again() -> None:
    async with broker_world() as world:
        addresses: dict[int, PeerAddress] = {}
        made = peers(world, addresses)
        for _ in range(2):
            async with listening(world) as port:
                addresses[THERE] = PeerAddress("127.0.0.1", port)
                assert isinstance(await made.ask(THERE, REQUEST), StopReplicaResponse)
        made.close()


async def test_a_broker_that_is_not_there_cannot_be_asked() -> None:
    async with broker_world() as world:
        made = peers(world, {})
        with pytest.raises(ConnectionError, match="broker 5 is not there"):
            await made.send(THERE, REQUEST)
        with pytest.raises(KafkaError) as refused:
            await made.ask(THERE, REQUEST)
        assert refused.value.code == ErrorCode.NETWORK_EXCEPTION


async def test_the_newest_version_of_both_is_spoken() -> None:
    async with broker_world() as world, listening(world) as port:
        made = peers(world, {THERE: PeerAddress("127.0.0.1", port)}, "2.4")
        answer = await made.ask_newest(THERE, REQUEST, least=4)
        assert isinstance(answer, StopReplicaResponse)
        with pytest.raises(KafkaError) as refused:
            await made.ask_newest(THERE, REQUEST, least=5)
        assert refused.value.code == ErrorCode.UNSUPPORTED_VERSION
        made.close()


async def test_who_was_out_of_reach_is_asked_for_versions_again() -> None:
    async with broker_world() as world:
        addresses: dict[int, PeerAddress] = {}
        made = peers(world, addresses)
        async with listening(world) as port:
            addresses[THERE] = PeerAddress("127.0.0.1", port)
            await made.ask_newest(THERE, REQUEST, least=4)
            assert made._offers
        with pytest.raises(KafkaError) as refused:
            await made.ask_newest(THERE, REQUEST, least=4)
        assert refused.value.code == ErrorCode.NETWORK_EXCEPTION
        assert not made._offers
        made.close()
