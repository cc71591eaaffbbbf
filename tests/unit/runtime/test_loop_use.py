"""The time that a coroutine keeps the loop: what it does, and not what it waits for."""

import asyncio

import pytest

from moldau.runtime.loop_use import LoopUse


class StepClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.ns = 0

    def now_ms(self) -> int:
        return self.monotonic_ms()

    def monotonic_ms(self) -> int:
        return self.ns // 1_000_000

    def monotonic_ns(self) -> int:
        return self.ns


async def test_steps_count_and_waits_do_not() -> None:
    clock = StepClock()
    gate = asyncio.Event()

    async def work() -> str:
        clock.ns += 5
        await gate.wait()
        clock.ns += 7
        return "done"

    use = LoopUse(clock)
    task = asyncio.create_task(use.of(work()))
    await asyncio.sleep(0)
    clock.ns += 1_000
    gate.set()
    assert await task == "done"
    assert use.spent_ns == 12


async def test_what_it_raises_is_raised_and_has_taken_its_time() -> None:
    clock = StepClock()

    async def work() -> None:
        await asyncio.sleep(0)
        clock.ns += 3
        raise ValueError("no")

    use = LoopUse(clock)
    with pytest.raises(ValueError, match="no"):
        await use.of(work())
    assert use.spent_ns == 3


async def test_a_cancellation_reaches_the_work() -> None:
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    task = asyncio.create_task(LoopUse(StepClock()).of(work()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled"]


async def test_work_that_is_given_up_is_closed() -> None:
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(0)
        finally:
            seen.append("closed")

    counted = LoopUse(StepClock()).of(work())
    counted.send(None)
    counted.close()
    assert seen == ["closed"]
