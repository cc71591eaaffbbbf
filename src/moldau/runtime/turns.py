"""Long work on the event loop, done in turns of a few milliseconds.

One request may name a hundred thousand things. Code that works through such a list gives
way whenever its turn is over, so that others are served meanwhile; however many do so at once,
each round of the loop sees one turn of one of them.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Generator, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Generic, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")
Result = TypeVar("Result")

TURN_S = 0.002
_SORTED_TOGETHER = 2_000


class Turns:
    """Decides which work has the next turn."""

    __slots__ = ("_is_scheduled", "_waiting")

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_scheduled = False

    @property
    def is_busy(self) -> bool:
        """Whether any work waits for its turn."""
        return bool(self._waiting)

    async def next(self) -> None:
        """Give way to all other work; returns when it is this work's turn again."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self._waiting.append(turn)
        self._schedule(loop)
        await turn

    def each(self, items: Iterable[Item], *, at_once: int = 8) -> AsyncIterator[Item]:
        """The items, for `async for`: gives way between two of them when the turn is over.

        The time is looked at after every `at_once` items: it costs as much as a small one.
        """
        return _Each(self, iter(items), at_once)

    async def finish(self, work: Generator[object, None, Result]) -> Result:
        """What `work` returns; it gives way wherever it yields and its turn is over."""
        now_s = asyncio.get_running_loop().time
        end_s = now_s() + TURN_S
        while True:
            try:
                next(work)
            except StopIteration as stop:
                result: Result = stop.value
                return result
            if now_s() >= end_s:
                await self.next()
                end_s = now_s() + TURN_S

    async def in_order(self, texts: Sequence[str]) -> Iterator[str]:
        """The texts, sorted; a long list takes longer than a turn, so it is sorted in parts."""
        if len(texts) <= _SORTED_TOGETHER:
            return iter(sorted(texts))
        starts = range(0, len(texts), _SORTED_TOGETHER)
        parts = [
            sorted(texts[start : start + _SORTED_TOGETHER])
            async for start in self.each(starts, at_once=1)
        ]
        return merge(*parts)

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            loop.call_soon(self._give, loop)

    def _give(self, loop: asyncio.AbstractEventLoop) -> None:
        self._is_scheduled = False
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # its request may have been given up
                turn.set_result(None)
                break
        if self._waiting:
            self._schedule(loop)


def in_parts(items: Mapping[Item, Value], size: int) -> Iterator[Mapping[Item, Value]]:
    """A mapping in pieces, for work that is done with many items at once."""
    if 0 < len(items) <= size:
        yield items
        return
    rest = iter(items.items())
    while some := dict(islice(rest, size)):
        yield some


class _Each(Generic[Item]):
    __slots__ = ("_at_once", "_end_s", "_items", "_look_in", "_now_s", "_turns")

    def __init__(self, turns: Turns, items: Iterator[Item], at_once: int) -> None:
        self._turns = turns
        self._items = items
        self._now_s = asyncio.get_running_loop().time
        self._end_s = self._now_s() + TURN_S
        self._at_once = self._look_in = at_once

    def __aiter__(self) -> AsyncIterator[Item]:
        return self

    async def __anext__(self) -> Item:
        for item in self._items:
            self._look_in -= 1
            if not self._look_in:
                self._look_in = self._at_once
                if self._now_s() >= self._end_s:
                    await self._turns.next()
                    self._end_s = self._now_s() + TURN_S
            return item
        raise StopAsyncIteration
