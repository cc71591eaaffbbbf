"""The tasks that make up a running broker: they end together."""

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self


class Services:
    """Runs tasks until its block ends; the failure of one ends the block at once."""

    def __init__(self) -> None:
        self._group = asyncio.TaskGroup()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, service: Coroutine[Any, Any, None]) -> None:
        """Run a task beside the others."""
        self._tasks.append(self._group.create_task(service))

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await self._group.__aexit__(kind, error, trace)
