"""Stops work that has no end of its own, so that it can say how far it came."""

import asyncio
import signal
from collections.abc import Awaitable

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopping:
    """Why the work is to end: a signal, or a reader that has gone."""

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self.is_asked = False
        self.code = 0
        """What the command says when it ends, as shells say it of programs that signals end."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._interrupt, number)

    def stop(self) -> None:
        """Let the work end."""
        assert self._task is not None, "asyncio.run runs this"
        self.is_asked = True
        self._task.cancel()

    async def run(self, work: Awaitable[None]) -> None:
        """Work until it is done, or is to stop; asked again, the task ends wherever it is."""
        assert self._task is not None, "asyncio.run runs this"
        try:
            await work
        except asyncio.CancelledError:
            if not self.is_asked:
                raise
            self._task.uncancel()

    def _interrupt(self, number: int) -> None:
        self.code = 128 + number
        self.stop()
