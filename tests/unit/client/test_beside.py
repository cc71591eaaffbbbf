"""What blocks, blocks nobody else."""

import asyncio
import subprocess
import sys
import threading

import pytest

from moldau.client.beside import call_beside, call_or_await

WAITING = """
import asyncio, threading
from moldau.client.beside import call_beside

async def main():
    try:
        async with asyncio.timeout(0.01):
            await call_beside(threading.Event().wait)
    except TimeoutError:
        print("late")

asyncio.run(main())
"""


async def test_the_loop_goes_on_while_a_function_blocks() -> None:
    released = threading.Event()
    asyncio.get_running_loop().call_soon(released.set)
    assert await call_beside(released.wait, 30)


async def test_errors_come_out_whatever_they_are() -> None:
    def stop() -> None:
        raise StopIteration("of a function")

    with pytest.raises(ZeroDivisionError):
        await call_beside(lambda: 1 // 0)
    with pytest.raises(RuntimeError, match="StopIteration"):
        await call_beside(stop)


def test_nobody_waits_for_it_in_the_end() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WAITING], capture_output=True, timeout=60, check=True
    )
    assert ended.stdout.split() == [b"late"]


async def test_plain_functions_are_called_beside_and_others_here() -> None:
    async def name() -> str:
        return threading.current_thread().name

    here = threading.current_thread().name
    assert await call_or_await(name) == here
    assert await call_or_await(lambda: asyncio.sleep(0, here)) == here
    assert await call_or_await(lambda: threading.current_thread().name) == "moldau-beside"
