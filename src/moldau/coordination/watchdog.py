"""Ends a process whose event loop has stopped turning while its session would live on.

kazoo keeps a session alive from threads of its own. A broker that hangs would so remain
registered, and leader, forever: no broker would take over. It has to end instead.
"""

import asyncio
import logging
import os
import threading
from collections.abc import Callable

_log = logging.getLogger(__name__)

_EXIT_CODE = 1


def end_process() -> None:
    """End at once: a loop that hangs cannot be asked to."""
    os._exit(_EXIT_CODE)


class Watchdog:
    """Asks the loop for a sign of life, from a thread, as long as a session lasts."""

    def __init__(
        self, patience_s: float, *, end: Callable[[], None] = end_process, pulse_s: float = 1.0
    ) -> None:
        self._patience_s = patience_s
        self._end = end
        self._pulse_s = pulse_s
        self._loop = asyncio.get_running_loop()
        self._turned = threading.Event()
        self._is_over = threading.Event()

    def start(self) -> None:
        """Begin to watch."""
        threading.Thread(target=self._watch, name="moldau-watchdog", daemon=True).start()

    def stop(self) -> None:
        """The session is over, and with it the danger."""
        self._is_over.set()

    def _watch(self) -> None:
        missed_s = 0.0
        self._ask()
        while not self._is_over.wait(self._pulse_s):
            if self._turned.is_set():
                missed_s = 0.0
                self._ask()
                continue
            # Only time that this thread was awake counts: a process that was held, as by
            # SIGSTOP, has had no chance to turn.
            missed_s += self._pulse_s
            if missed_s >= self._patience_s:
                _log.critical("Event loop blocked for %.0f s: stopping the process", missed_s)
                self._end()
                return

    def _ask(self) -> None:
        self._turned.clear()
        try:
            self._loop.call_soon_threadsafe(self._turned.set)
        except RuntimeError:  # the loop is closed
            self._is_over.set()
