"""Machines: programs that end in all the ways in which programs end."""

import asyncio

from moldau.testing.disk import keep_all, lose_all
from moldau.testing.world.machine import Machine
from moldau.testing.world.world import World
from unit.testing.world.worlds import Recorder
from unit.testing.world.worlds import server as serving


async def write_and_wait(machine: Machine) -> None:
    file = machine.disk.open_append("/file")
    file.append(b"synced")
    file.sync()
    machine.disk.sync_directory("/")
    file.append(b" and not")
    await asyncio.get_running_loop().create_future()


def test_a_kill_keeps_what_was_written_and_a_loss_of_power_does_not() -> None:
    with World(1) as world:
        machine = world.machine("a")

        async def main() -> None:
            machine.start(write_and_wait)
            await asyncio.sleep(1)
            machine.kill()
            assert not machine.is_up
            assert machine.disk.read_file("/file") == b"synced and not"
            machine.disk.remove("/file")
            machine.start(write_and_wait)
            await asyncio.sleep(1)
            machine.lose_power(lose_all)
            assert machine.disk.read_file("/file") == b"synced"
            assert machine.lives == 2

        world.run(main())


def test_a_program_that_fails_has_ended_and_left_its_error() -> None:
    async def fail(_machine: Machine) -> None:
        await asyncio.sleep(1)
        raise ValueError("broken")

    async def succeed(_machine: Machine) -> None:
        await asyncio.sleep(1)

    with World(1) as world:
        machine = world.machine("a")

        async def main() -> None:
            machine.start(fail)
            await asyncio.sleep(2)
            assert not machine.is_up
            assert isinstance(machine.outcome, ValueError)
            machine.start(succeed)
            await asyncio.sleep(2)
            assert machine.outcome is None

        world.run(main())


def test_a_paused_program_does_nothing_until_it_is_resumed() -> None:
    seen: list[float] = []

    async def tick(_machine: Machine) -> None:
        while True:
            await asyncio.sleep(1)
            seen.append(asyncio.get_running_loop().time())

    with World(1) as world:
        machine = world.machine("a")

        async def main() -> None:
            machine.start(tick)
            await asyncio.sleep(1.5)
            machine.pause()
            await asyncio.sleep(10)
            machine.resume()
            await asyncio.sleep(1.2)

        world.run(main())
        assert seen == [1.0, 11.5, 12.5]


def test_a_slow_machine_takes_longer_for_work_in_threads() -> None:
    async def work(_machine: Machine) -> None:
        await asyncio.get_running_loop().run_in_executor(None, lambda: None)

    with World(1) as world:
        machine = world.machine("a")

        async def main(factor: float) -> float:
            machine.slow_down(factor)
            began_s = world.loop.time()
            await machine.start(work)
            return world.loop.time() - began_s

        assert world.run(main(1000)) > 50 * world.run(main(1))


def test_power_may_be_lost_in_the_middle_of_a_step_whose_rest_is_void() -> None:
    server, client = Recorder(), Recorder()

    async def write_and_tell(machine: Machine) -> None:
        _, protocol = await asyncio.get_running_loop().create_connection(
            lambda: client, "server", 1
        )
        assert protocol is client
        file = machine.disk.open_append("/file")
        try:
            file.append(b"one")
            file.append(b"two")
        finally:
            client.transport.write(b"done")
            client.transport.abort()

    with World(1) as world:
        world.machine("server").start(serving(world, server))
        machine = world.machine("a")

        async def main() -> None:
            await asyncio.sleep(0)
            machine.start(write_and_tell)
            machine.lose_power_at_call(3, keep_all)
            await asyncio.sleep(1)

        world.run(main())
        assert not machine.is_up
        assert machine.disk.read_file("/file") == b"one"
        assert bytes(server.received) == b""
        assert not server.transport.is_closing()
