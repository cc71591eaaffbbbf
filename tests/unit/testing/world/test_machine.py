"""Machines: programs that end in all the ways in which programs end."""

import asyncio

from moldau.testing.disk import lose_all
from moldau.testing.world.machine import Machine
from moldau.testing.world.world import World


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
