"""The network: calls that are answered, refused, or never heard."""

import asyncio

import pytest

from moldau.testing.disk import lose_all
from moldau.testing.world.machine import Machine
from moldau.testing.world.world import World
from unit.testing.world.worlds import Recorder, call, server


def test_nobody_answers_where_nobody_listens() -> None:
    with World(1) as world:
        world.machine("server").start(server(world, Recorder()))

        async def main() -> None:
            await asyncio.sleep(0)
            with pytest.raises(ConnectionRefusedError):
                await call("server", port=2)

        world.run(main())


def test_an_address_is_taken_once_and_free_after_the_end_of_its_program() -> None:
    with World(1) as world:
        machine = world.machine("server")
        machine.start(server(world, Recorder()))

        async def main() -> None:
            await asyncio.sleep(0)
            with pytest.raises(OSError, match="in use"):
                world.network.bind("server", 1)
            machine.kill()
            world.network.bind("server", 1).close()
            assert world.network.bind("server", 0).getsockname()[1] > 0

        world.run(main())


def test_a_killed_program_is_missed_at_once_and_a_machine_without_power_is_not() -> None:
    with World(1) as world:
        killed, dark = world.machine("killed"), world.machine("dark")
        killed.start(server(world, Recorder()))
        dark.start(server(world, Recorder()))

        async def main() -> None:
            await asyncio.sleep(0)
            to_killed, to_dark = await call("killed"), await call("dark")
            await asyncio.sleep(1)
            killed.kill()
            dark.lose_power(lose_all)
            await asyncio.sleep(1)
            assert isinstance(to_killed.lost[0], ConnectionResetError)
            assert to_dark.lost == []
            to_dark.transport.write(b"is anybody there")
            with pytest.raises(TimeoutError):
                await call("dark")
            assert to_dark.lost == []
            dark.start(server(world, Recorder()))
            await asyncio.sleep(1)
            assert isinstance(to_dark.lost[0], ConnectionResetError)

        world.run(main())


def test_a_program_that_is_back_does_not_know_old_connections() -> None:
    with World(1) as world:
        machine = world.machine("server")
        machine.start(server(world, Recorder()))

        async def main() -> None:
            await asyncio.sleep(0)
            client = await call("server")
            machine.lose_power(lose_all)
            machine.start(server(world, Recorder()))
            await asyncio.sleep(1)
            assert client.lost == []
            client.transport.write(b"hello")
            await asyncio.sleep(1)
            assert isinstance(client.lost[0], ConnectionResetError)

        world.run(main())


def test_callers_that_were_not_accepted_are_hung_up_on() -> None:
    with World(1) as world:

        async def main() -> None:
            listening = world.network.bind("", 1)
            client = await call("")
            with pytest.raises(BlockingIOError):
                world.network.bind("", 2).accept()
            listening.close()
            await asyncio.sleep(1)
            assert isinstance(client.lost[0], ConnectionResetError)

        world.run(main())


def test_a_machine_may_refuse_one_caller_for_a_while_although_a_program_listens() -> None:
    with World(1) as world:
        protocol = Recorder()
        world.machine("server").start(server(world, protocol))

        async def main() -> None:
            await asyncio.sleep(0)
            client = await call("server")
            await asyncio.sleep(1)
            world.network.refuse("", "server")
            await asyncio.sleep(1)
            assert isinstance(client.lost[0], ConnectionResetError)
            assert isinstance(protocol.lost[0], ConnectionResetError)
            with pytest.raises(ConnectionRefusedError):
                await call("server")
            elsewhere = world.machine("elsewhere").start(caller)
            await elsewhere
            world.network.take("", "server")
            await call("server")
            world.network.refuse("", "server")
            world.network.take_all()
            await call("server")

        async def caller(_machine: Machine) -> None:
            await call("server")

        world.run(main())


def test_only_connections_of_the_one_to_the_other_are_reset() -> None:
    with World(1) as world:
        world.machine("one").start(server(world, Recorder()))
        world.machine("two").start(server(world, Recorder()))

        async def main() -> None:
            await asyncio.sleep(0)
            to_one, to_two = await call("one"), await call("two")
            world.network.reset("one", "")
            await asyncio.sleep(1)
            assert to_one.lost == []
            world.network.reset("", "one")
            await asyncio.sleep(1)
            assert (len(to_one.lost), len(to_two.lost)) == (1, 0)
            # What has ended is not reset again.
            world.network.reset("", "one")
            await asyncio.sleep(1)
            assert len(to_one.lost) == 1

        world.run(main())


@pytest.mark.parametrize("turns", range(12))
def test_a_connection_that_is_reset_while_it_is_made_ends_at_both_ends(turns: int) -> None:
    with World(1) as world:
        protocol = Recorder()
        world.machine("server").start(server(world, protocol))

        async def main() -> None:
            await asyncio.sleep(0)
            calling = asyncio.ensure_future(call("server"))
            await asyncio.sleep(turns * 0.0002)
            world.network.reset("", "server")
            client = await calling
            await asyncio.sleep(1)
            assert len(client.lost) == len(protocol.lost) <= 1
            world.network.reset("", "server")
            await asyncio.sleep(1)
            assert len(client.lost) == len(protocol.lost) == 1

        world.run(main())
