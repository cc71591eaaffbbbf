"""Eager coroutines: no task until the first wait, then an ordinary one."""

import asyncio
import gc
import weakref

import pytest

from moldau.runtime import eager


async def test_a_coroutine_that_never_waits_finishes_at_once() -> None:
    async def work() -> int:
        return 7

    assert eager.start(work()) == eager.Finished(7)


async def test_a_coroutine_that_waits_is_finished_by_a_task() -> None:
    gate = asyncio.get_running_loop().create_future()

    async def work() -> list[int]:
        first = await gate
        await asyncio.sleep(0)
        return [first, 2]

    outcome = eager.start(work())
    assert isinstance(outcome, eager.Waiting)
    task = asyncio.ensure_future(outcome.rest)
    await asyncio.sleep(0)
    gate.set_result(1)
    assert await task == [1, 2]


async def test_what_it_raises_before_waiting_is_raised_by_start() -> None:
    async def work() -> None:
        raise ValueError("early")

    with pytest.raises(ValueError, match="early"):
        eager.start(work())


async def test_what_it_raises_after_waiting_is_raised_by_the_task() -> None:
    async def work() -> None:
        await asyncio.sleep(0)
        raise ValueError("late")

    outcome = eager.start(work())
    assert isinstance(outcome, eager.Waiting)
    with pytest.raises(ValueError, match="late"):
        await outcome.rest


async def test_cancelling_the_task_reaches_the_coroutine() -> None:
    cleaned: list[str] = []

    async def work() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            cleaned.append("cancelled")
            raise

    outcome = eager.start(work())
    assert isinstance(outcome, eager.Waiting)
    task = asyncio.ensure_future(outcome.rest)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned == ["cancelled"]


async def test_a_coroutine_may_handle_an_error_and_wait_again() -> None:
    loop = asyncio.get_running_loop()
    failing, gate = loop.create_future(), loop.create_future()

    async def work() -> int:
        try:
            await failing
        except OSError:
            return int(await gate)
        return 0

    outcome = eager.start(work())
    assert isinstance(outcome, eager.Waiting)
    task = asyncio.ensure_future(outcome.rest)
    failing.set_exception(OSError("down"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    gate.set_result(5)
    assert await task == 5


async def test_dropping_the_rest_closes_the_coroutine() -> None:
    closed: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            closed.append(True)

    outcome = eager.start(work())
    assert isinstance(outcome, eager.Waiting)
    outcome.rest.send(None)
    outcome.rest.close()
    assert closed == [True]


async def test_what_fails_in_the_rest_leaves_no_cycle_behind() -> None:
    class Big:
        """Stands for the memory that the locals of a failing call hold."""

    alive: list[weakref.ref[Big]] = []

    def fail() -> None:
        big = Big()
        alive.append(weakref.ref(big))
        raise ValueError(big)

    async def work() -> None:
        with pytest.raises(ValueError, match="Big"):
            await asyncio.get_running_loop().run_in_executor(None, fail)

    gc.collect()
    gc.disable()
    try:
        outcome = eager.start(work())
        assert isinstance(outcome, eager.Waiting)
        await outcome.rest
        await asyncio.get_running_loop().run_in_executor(None, int)
        assert alive[0]() is None
    finally:
        gc.enable()
