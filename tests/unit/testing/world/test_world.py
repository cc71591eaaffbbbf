"""The world: the same seed gives the same course of things, another one does not."""

import asyncio

from moldau.testing.world.world import World
from unit.testing.world.worlds import Recorder, call, server


def trace_of(seed: int) -> int:
    with World(seed) as world:
        echo = Recorder(lambda data, transport: transport.write(data))
        world.machine("server").start(server(world, echo))

        async def main() -> None:
            await asyncio.sleep(0)
            client = await call("server")
            for _ in range(10):
                client.transport.write(world.machine("client").random.uuid())
                await asyncio.sleep(0.01)

        world.run(main())
        return world.loop.trace


def test_a_seed_repeats_itself_and_no_other() -> None:
    traces = [trace_of(seed) for seed in (1, 1, 2)]
    assert traces[0] == traces[1] != traces[2]


def test_a_machine_is_built_once() -> None:
    with World(1) as world:
        assert world.machine("a") is world.machine("a")
        assert world.machine("a") is not world.machine("b")
