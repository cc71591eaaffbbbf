"""How long failed logins wait."""

import asyncio

import pytest

from moldau.broker.login.failure_delays import WAITING_MAX, FailureDelays
from unit.waiting import LoopTime, settled


async def test_a_failure_waits(time: LoopTime) -> None:
    delays = FailureDelays(1000)
    waiting = asyncio.create_task(delays.wait("10.0.0.1"))
    await settled()
    assert not waiting.done()
    assert delays.waiting("10.0.0.1") == 1
    time.jump(1)
    await time.until(waiting.done)
    assert waiting.result()
    assert delays.waiting("10.0.0.1") == 0


async def test_many_of_one_address_wait_longer_and_others_do_not(time: LoopTime) -> None:
    delays = FailureDelays(1000)
    tasks = [asyncio.create_task(delays.wait("10.0.0.1")) for _ in range(16)]
    await settled()
    assert delays.delay_s("10.0.0.1") == pytest.approx(3)
    assert delays.delay_s("10.0.0.2") == pytest.approx(1)
    await time.until(lambda: all(task.done() for task in tasks))


async def test_no_more_than_so_many_of_an_address_are_kept(time: LoopTime) -> None:
    delays = FailureDelays(1000)
    tasks = [asyncio.create_task(delays.wait("10.0.0.1")) for _ in range(WAITING_MAX)]
    await settled()
    assert not await delays.wait("10.0.0.1")
    assert delays.waiting("10.0.0.1") == WAITING_MAX
    await time.until(lambda: all(task.done() for task in tasks))


async def test_without_a_delay_nothing_waits() -> None:
    delays = FailureDelays(0)
    assert await delays.wait("10.0.0.1")
