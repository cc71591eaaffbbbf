"""Channels whose connections end, or are refused."""

import asyncio

import pytest

from moldau.net.channel import Channel, ChannelLimits
from unit.net.test_channel import IMPATIENT, REQUEST, VERSION, channel_to, correctly, peer_that
from unit.waiting import settled


async def test_the_end_of_a_connection_is_noticed_without_a_call() -> None:
    async with peer_that(correctly) as peer:
        channel = channel_to(peer, ChannelLimits())
        await asyncio.wait_for(channel.until_lost(), 30)  # there is none yet
        await channel.call(REQUEST, VERSION)
        waiting = asyncio.create_task(channel.until_lost())
        await settled()
        assert not waiting.done()
        peer.hang_up()
        await asyncio.wait_for(waiting, 30)
        channel.close()


async def test_a_port_where_nobody_listens_refuses_by_whatever_name() -> None:
    async with peer_that(correctly) as peer:
        port = peer.port
    for host in ("127.0.0.1", "localhost"):
        with pytest.raises(ConnectionRefusedError):
            await Channel(host, port, "broker-1", limits=IMPATIENT).call(REQUEST, VERSION)
