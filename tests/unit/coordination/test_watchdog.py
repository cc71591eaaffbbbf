"""A loop that hangs is noticed; one that turns, or has ended, is left alone."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import moldau
from moldau.coordination.watchdog import Watchdog
from unit.waiting import until

PULSE_S = 0.005


async def test_a_loop_that_turns_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Callable[..., object]] = []
    loop = asyncio.get_running_loop()
    call = loop.call_soon_threadsafe

    def count(callback: Callable[..., object]) -> asyncio.Handle:
        asked.append(callback)
        return call(callback)

    monkeypatch.setattr(loop, "call_soon_threadsafe", count)
    ended = threading.Event()
    watchdog = Watchdog(20 * PULSE_S, end=ended.set, pulse_s=PULSE_S)
    watchdog.start()
    await until(lambda: len(asked) > 30)
    watchdog.stop()
    assert not ended.is_set()


async def test_a_loop_that_hangs_is_noticed() -> None:
    ended = threading.Event()
    watchdog = Watchdog(5 * PULSE_S, end=ended.set, pulse_s=PULSE_S)
    watchdog.start()
    await asyncio.sleep(0)
    # Blocks the loop, as a broker must never do.
    assert ended.wait(10)


def test_a_loop_that_has_ended_is_not_watched() -> None:
    ended = threading.Event()

    async def watch() -> None:
        Watchdog(PULSE_S, end=ended.set, pulse_s=PULSE_S).start()
        await asyncio.sleep(0)

    asyncio.run(watch())
    for thread in threading.enumerate():
        if thread.name == "moldau-watchdog":
            thread.join(10)
            assert not thread.is_alive()
    assert not ended.is_set()


def test_the_process_ends() -> None:
    code = (
        "import asyncio, time\n"
        "from moldau.coordination.watchdog import Watchdog\n"
        "async def hang():\n"
        "    Watchdog(0.02, pulse_s=0.01).start()\n"
        "    await asyncio.sleep(0)\n"
        "    time.sleep(60)\n"
        "asyncio.run(hang())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(moldau.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, timeout=30, check=False)
    assert done.returncode == 1
