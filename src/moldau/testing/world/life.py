"""One run of a program on a simulated machine, from its start to its end.

Every callback belongs to the life in whose context it was scheduled. The loop asks the
life before it runs one: those of a paused life wait, those of an ended one are dropped.
So a program stops between two steps like a process that was killed: nothing of it runs
any more, not even what it meant to do on its way out.
"""

import asyncio
from contextvars import ContextVar
from enum import Enum, auto
from weakref import WeakSet


class State(Enum):
    """Whether a program runs."""

    RUNNING = auto()
    PAUSED = auto()
    ENDED = auto()


class Life:
    """A program that runs, and whether it may."""

    def __init__(self, machine: str) -> None:
        self.machine = machine
        self.state = State.RUNNING
        self.thread_delay_s = 0.001
        """How long work in a thread takes, on average."""
        self.held: list[asyncio.Handle] = []
        """What came due while paused."""
        self.tasks: WeakSet[asyncio.Task[object]] = WeakSet()

    @property
    def is_over(self) -> bool:
        """Whether the program has ended."""
        return self.state is State.ENDED


NOBODY = Life("")
"""Whose callbacks always run: the world's own."""

CURRENT: ContextVar[Life] = ContextVar("moldau_life", default=NOBODY)
