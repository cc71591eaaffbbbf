"""Stops work that has no end of its own; test_main_failures sends signals to real commands."""

import asyncio

import pytest

from moldau.cli.terminal.stopping import Stopping


async def forever() -> None:
    await asyncio.Event().wait()


def test_work_ends_when_it_is_to_stop() -> None:
    async def main() -> int:
        stopping = Stopping()
        asyncio.get_running_loop().call_soon(stopping.stop)
        await stopping.run(forever())
        await asyncio.sleep(0)  # which the task still can
        return stopping.code

    assert asyncio.run(main()) == 0


def test_others_cancel_as_ever() -> None:
    async def main() -> None:
        task = asyncio.current_task()
        assert task is not None
        stopping = Stopping()
        asyncio.get_running_loop().call_soon(task.cancel)
        await stopping.run(forever())

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
