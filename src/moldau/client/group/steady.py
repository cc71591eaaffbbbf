"""Heartbeats while the user's listeners work: they may take longer than a session lasts."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

from moldau.client.group.holder import Holder
from moldau.errors import KafkaError
from moldau.model import TopicPartition


class SteadyHolder:
    """Passes on to another holder what comes and goes; beats for as long as that takes.

    But no longer than `limit_s`: a holder that is not done by then counts as dead.
    """

    def __init__(
        self,
        holder: Holder,
        beat: Callable[[], Awaitable[None]],
        *,
        interval_s: Callable[[], float],
        limit_s: float,
    ) -> None:
        self._holder = holder
        self._beat = beat
        self._interval_s = interval_s
        self._limit_s = limit_s
        self.held = holder.held
        self.commit = holder.commit
        self.failed = holder.failed

    async def give_back(self, partitions: list[TopicPartition]) -> None:
        await self._while_beating(self._holder.give_back(partitions))

    async def lose(self, partitions: list[TopicPartition]) -> None:
        await self._while_beating(self._holder.lose(partitions))

    async def receive(self, partitions: list[TopicPartition]) -> None:
        await self._while_beating(self._holder.receive(partitions))

    async def _while_beating(self, callback: Coroutine[Any, Any, None]) -> None:
        deadline_s = asyncio.get_running_loop().time() + self._limit_s
        running = asyncio.ensure_future(callback)
        try:
            while not running.done():
                await asyncio.wait([running], timeout=self._interval_s())
                is_in_time = asyncio.get_running_loop().time() < deadline_s
                if not running.done() and is_in_time:
                    with suppress(KafkaError):  # the next heartbeat finds out again
                        await self._beat()
        finally:
            if not running.done():
                running.cancel()
                await asyncio.wait([running])
        running.result()
