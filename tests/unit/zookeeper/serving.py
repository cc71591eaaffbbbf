"""A tree that is served in this process, and clients that block in threads."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from moldau.net.listener import listen
from moldau.runtime.clock import SystemClock
from moldau.zookeeper.server import ServerOptions, TreeServer, serving_tree
from moldau.zookeeper.session_table import SessionBounds

BOUNDS = SessionBounds(min_timeout_ms=500)
Value = TypeVar("Value")


@asynccontextmanager
async def served(
    path: Path, bounds: SessionBounds = BOUNDS
) -> AsyncIterator[tuple[TreeServer, int]]:
    """The server, and its port."""
    listening = listen("127.0.0.1", 0)
    options = ServerOptions(str(path), bounds)
    async with serving_tree(options, [listening], SystemClock()) as server:
        yield server, listening.getsockname()[1]


async def blocking(function: Callable[[], Value]) -> Value:
    """What a blocking client finds."""
    return await asyncio.wait_for(asyncio.to_thread(function), 20)
