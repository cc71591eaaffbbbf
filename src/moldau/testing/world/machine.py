"""A simulated machine: a disk, clocks, and a program that runs on it or does not."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

from moldau.testing.disk import Choice, MemoryDisk
from moldau.testing.world.life import Life, State
from moldau.testing.world.loop import WorldLoop, context_of
from moldau.testing.world.network import Network
from moldau.testing.world.ports import WorldClock, WorldRandom

Program = Callable[["Machine"], Coroutine[Any, Any, None]]

_THREAD_DELAY_S = 0.001


class Machine:
    """Runs one program at a time, which may be started again after its end."""

    def __init__(self, name: str, loop: WorldLoop, network: Network, source: random.Random) -> None:
        self.name = name
        self.clock = WorldClock(loop)
        self.disk = MemoryDisk(now_ms=self.clock.now_ms)
        self.random = WorldRandom(source)
        self.life: Life | None = None
        self.lives = 0
        self.outcome: BaseException | None = None
        """What ended the latest program, if it was an error of its own."""
        self._loop = loop
        self._network = network
        self._graveyard: list[object] = []
        self._thread_delay_s = _THREAD_DELAY_S

    @property
    def is_up(self) -> bool:
        """Whether a program runs, or would if it were not paused."""
        return self.life is not None and not self.life.is_over

    def start(self, program: Program) -> asyncio.Task[None]:
        """Run a program, with the disk as the last one left it."""
        assert not self.is_up, f"{self.name} runs a program already"
        self._network.power_on(self.name)
        self.lives += 1
        self.outcome = None
        life = self.life = Life(self.name)
        life.thread_delay_s = self._thread_delay_s
        task: asyncio.Task[None] = self._loop.create_task(program(self), context=context_of(life))
        task.add_done_callback(lambda task: self._ended(life, task), context=context_of(life))
        return task

    def kill(self) -> None:
        """End the program between two steps; what it wrote is there, synced or not."""
        self._end(is_power_lost=False)
        self.disk = self.disk.end_process()

    def lose_power(self, choice: Choice) -> None:
        """End everything; of unsynced bytes as much survives as `choice` says."""
        self._end(is_power_lost=True)
        self.disk = self.disk.restart(choice)

    def lose_power_at_call(self, number: int, choice: Choice) -> None:
        """Likewise, but in the middle of a step: at the program's `number`-th call to the disk."""
        disk, life = self.disk, self.life

        def end() -> None:
            if self.disk is disk and self.life is life and self.is_up:
                self.lose_power(choice)

        disk.on_power_lost = end
        disk.lose_power_at_call(number)

    def pause(self) -> None:
        """Stop the program where it is."""
        if self.life is not None and self.life.state is State.RUNNING:
            self.life.state = State.PAUSED

    def resume(self) -> None:
        """Let a paused program go on."""
        if self.life is not None and self.life.state is State.PAUSED:
            self._loop.resume(self.life)

    def slow_down(self, factor: float) -> None:
        """Let work in threads, above all syncing, take so many times as long."""
        self._thread_delay_s = _THREAD_DELAY_S * factor
        if self.life is not None:
            self.life.thread_delay_s = self._thread_delay_s

    def scrap(self) -> None:
        """Let go of everything, at the end of the world."""
        if self.life is not None:
            self.life.state = State.ENDED
        self.disk.restart()
        self._graveyard.clear()

    def _end(self, *, is_power_lost: bool) -> None:
        life = self.life
        assert life is not None
        assert not life.is_over
        life.state = State.ENDED
        life.held.clear()
        # What has no references any more would otherwise be closed, and so run, now.
        self._graveyard += life.tasks
        self._network.end(life, is_power_lost=is_power_lost)

    def _ended(self, life: Life, task: "asyncio.Task[None]") -> None:
        """The program has come to its end by itself, as processes do."""
        if life.is_over:
            return
        self.outcome = None if task.cancelled() else task.exception()
        self._end(is_power_lost=False)
        self.disk = self.disk.end_process()
