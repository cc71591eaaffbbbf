"""How busy the event loop is: how late it runs what is due, and how much of the time it works."""

import asyncio
import time

from moldau.runtime.metrics import Metrics

_INTERVAL_S = 0.1
# How much the last interval counts for: the share is about that of the last ten seconds.
_NEWEST = 0.01


class LoopLag:
    """Asks to be woken in a moment, again and again, and notes how late it is."""

    def __init__(self, metrics: Metrics) -> None:
        self._lag = metrics.durations(
            "moldau_event_loop_lag_ms",
            "How much later than asked for the event loop ran something, in milliseconds.",
        )
        self.idle_share = 1.0

    async def run(self) -> None:
        """Measure until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            began_s, worked_s = loop.time(), time.thread_time()
            await asyncio.sleep(_INTERVAL_S)
            passed_s, worked_s = loop.time() - began_s, time.thread_time() - worked_s
            self._lag.record(max(0, int((passed_s - _INTERVAL_S) * 1e9)))
            idle = 1 - min(1.0, worked_s / passed_s) if passed_s else 1.0
            self.idle_share += _NEWEST * (idle - self.idle_share)
