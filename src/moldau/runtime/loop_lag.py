"""How late the event loop runs what is due: the time that one callback held up the rest."""

import asyncio

from moldau.runtime.metrics import Metrics

_INTERVAL_S = 0.1


class LoopLag:
    """Asks to be woken in a moment, again and again, and notes how late it is."""

    def __init__(self, metrics: Metrics) -> None:
        self._lag = metrics.durations("moldau_event_loop_lag_ms")

    async def run(self) -> None:
        """Measure until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due_s = loop.time() + _INTERVAL_S
            await asyncio.sleep(_INTERVAL_S)
            self._lag.record(max(0, int((loop.time() - due_s) * 1e9)))
