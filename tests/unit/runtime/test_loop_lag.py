"""How late the event loop runs what is due: the time that one callback held up the rest."""

import asyncio

import pytest

from moldau.runtime.loop_lag import LoopLag
from moldau.runtime.metrics import Metrics
from unit.waiting import LoopTime, until


async def test_a_callback_that_holds_up_the_loop_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    time = LoopTime(monkeypatch)
    metrics = Metrics()
    lag = metrics.durations("moldau_event_loop_lag_ms", "Lateness.")
    measuring = asyncio.create_task(LoopLag(metrics).run())
    await asyncio.sleep(0)
    time.jump(0.15)
    await until(lambda: lag.count)
    measuring.cancel()
    assert lag.quantile_ms(1.0) >= 40


async def test_a_loop_that_works_is_not_idle() -> None:
    lag = LoopLag(Metrics())
    assert lag.idle_share == 1
    measuring = asyncio.create_task(lag.run())
    async with asyncio.timeout(20):
        while lag.idle_share == 1:
            await asyncio.sleep(0)
    measuring.cancel()
    assert 0.9 < lag.idle_share < 1
