"""Streams: bytes in order, flow control, and the ways in which a connection ends."""

import asyncio

from moldau.testing.world.world import World
from unit.testing.world.worlds import Recorder, call, server


def test_bytes_arrive_in_order_and_are_answered() -> None:
    with World(1) as world:
        echo = Recorder(lambda data, transport: transport.write(data))
        world.machine("server").start(server(world, echo))

        async def main() -> bytes:
            await asyncio.sleep(0)
            client = await call("server")
            client.transport.write(b"one ")
            client.transport.writelines([b"two ", b"three"])
            await asyncio.sleep(1)
            return bytes(client.received)

        assert world.run(main()) == b"one two three"


def test_a_receiver_that_does_not_read_makes_the_sender_wait() -> None:
    with World(1) as world:
        sink = Recorder()
        world.machine("server").start(server(world, sink))

        async def main() -> None:
            await asyncio.sleep(0)
            client = await call("server")
            client.transport.set_write_buffer_limits(high=100_000)
            await asyncio.sleep(1)
            sink.transport.pause_reading()
            for _ in range(100):
                client.transport.write(bytes(10_000))
            was_paused = client.is_paused
            await asyncio.sleep(1)
            assert client.transport.get_write_buffer_size() > 100_000
            sink.transport.resume_reading()
            await asyncio.sleep(1)
            assert (was_paused, client.is_paused) == (True, False)
            assert len(sink.received) == 1_000_000

        world.run(main())


def test_closing_delivers_what_was_written_and_aborting_does_not() -> None:
    with World(1) as world:
        sinks = [Recorder(), Recorder()]
        world.machine("a").start(server(world, sinks[0]))
        world.machine("b").start(server(world, sinks[1]))

        async def main() -> None:
            await asyncio.sleep(0)
            closing, aborting = await call("a"), await call("b")
            await asyncio.sleep(1)
            closing.transport.write(b"last words")
            closing.transport.close()
            world.network.link("", "b").cut()
            aborting.transport.write(b"never said")
            aborting.transport.abort()
            world.network.link("", "b").mend()
            await asyncio.sleep(1)
            assert (closing.lost, aborting.lost) == ([None], [None])

        world.run(main())
        assert bytes(sinks[0].received) == b"last words"
        assert sinks[0].lost == [None]
        assert bytes(sinks[1].received) == b""
        assert sinks[1].transport.is_closing()
