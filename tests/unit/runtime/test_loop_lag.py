"""How late the event loop runs what is due: the time that one callback held up the rest."""

import asyncio
import time

from moldau.runtime.loop_lag import LoopLag
from moldau.runtime.metrics import Metrics


async def test_a_callback_that_holds_up_the_loop_is_seen() -> None:
    metrics = Metrics()
    lag = metrics.durations("moldau_event_loop_lag_ms", "Lateness.")
    measuring = asyncio.create_task(LoopLag(metrics).run())
    await asyncio.sleep(0)
    time.sleep(0.15)  # noqa: ASYNC251 - the loop is held up on purpose
    async with asyncio.timeout(5):
        while not lag.count:
            await asyncio.sleep(0.001)
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
