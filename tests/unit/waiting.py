"""Waits of tests that take no longer than what is waited for: nothing here sleeps."""

import asyncio
from collections.abc import Callable

import pytest

_PATIENCE_S = 30
_TURNS = 100
_STEP_S = 0.1
_STEPS = 1000


async def until(is_reached: Callable[[], object]) -> None:
    """Turn the loop until its tasks, a thread or the network have brought something about."""
    async with asyncio.timeout(_PATIENCE_S):
        while not is_reached():
            await asyncio.sleep(0)


async def settled() -> None:
    """Let all tasks go on for as long as they wait for nothing but each other.

    What has arrived at a socket of this machine is read meanwhile: before `assert not done`.
    """
    for _ in range(_TURNS):
        await asyncio.sleep(0)


class LoopTime:
    """The running loop's time, which may jump: what is due then is done without a wait."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        self._by_itself = loop.time
        self._ahead_s = 0.0
        monkeypatch.setattr(loop, "time", self.now_s)

    def now_s(self) -> float:
        return self._by_itself() + self._ahead_s

    def jump(self, seconds: float) -> None:
        """Be so much later; timers that have come due run when the loop turns."""
        self._ahead_s += seconds

    async def until(self, is_reached: Callable[[], object]) -> None:
        """Let time pass, and what comes due be done, until something is so."""
        for _ in range(_STEPS):
            if is_reached():
                return
            self.jump(_STEP_S)
            await settled()
        raise AssertionError(f"it did not happen in {_STEPS * _STEP_S:g} s")
