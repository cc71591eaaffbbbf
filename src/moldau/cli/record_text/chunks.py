"""Bytes of a file, pipe or terminal as they come."""

import asyncio
import os
from collections.abc import AsyncIterator

READ_BYTES = 1 << 20


async def chunks(descriptor: int, *, prompt: str = "") -> AsyncIterator[bytes]:
    """What can be read, piece by piece, until it ends; a prompt is shown before each."""
    while True:
        if prompt:
            print(prompt, end="", flush=True)
        await _until_readable(descriptor)
        data = os.read(descriptor, READ_BYTES)
        if not data:
            return
        yield data


async def _until_readable(descriptor: int) -> None:
    """Wait on the loop, not in a thread, which could not be interrupted."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except PermissionError:  # a file on disk, which is always readable
        await asyncio.sleep(0)
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
