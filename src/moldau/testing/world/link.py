"""The way from one machine to another: how long it takes, and whether it is open.

Nothing is ever lost on the way, for there is TCP above: what is sent while the way is cut
waits, as retransmission would make it wait, and goes when the way is mended.
"""

from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Any

from moldau.testing.world.loop import WorldLoop


class NetworkLink:
    """One direction between two machines."""

    def __init__(self, loop: WorldLoop, draw: Callable[[], float]) -> None:
        """`draw` gives a number in [0, 1)."""
        self.loop = loop
        self.is_cut = False
        self.latency_s = 0.0002 + 0.0008 * draw()
        self.extra_s = 0.0
        """How much slower than usual it is."""
        self._draw = draw
        self._waiting: dict[Pipe, None] = {}

    def delay_s(self) -> float:
        """How long what is sent now takes."""
        # Now and then a packet takes ten times as long.
        return self.latency_s * (1 + 9 * self._draw() ** 8) + self.extra_s * (0.5 + self._draw())

    def cut(self) -> None:
        """Let nothing through from now on."""
        self.is_cut = True

    def mend(self) -> None:
        """Let everything through that has waited, and all that comes."""
        self.is_cut = False
        self.extra_s = 0.0
        waiting, self._waiting = self._waiting, {}
        for pipe in waiting:
            pipe.flush()

    def wait(self, pipe: "Pipe") -> None:
        """Remember to flush a pipe when the way is open again."""
        self._waiting[pipe] = None


class Pipe:
    """What goes over a link in order: one direction of a connection."""

    def __init__(self, link: NetworkLink, context: Context) -> None:
        """`context` is that of the receiver."""
        self._link = link
        self._context = context
        self._arrives_at_s = 0.0
        self._waiting: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()

    def send(self, deliver: Callable[..., object], *args: Any) -> None:
        """Have `deliver` called on the other side, after all that was sent before."""
        if self._waiting or self._link.is_cut:
            self._waiting.append((deliver, args))
            self._link.wait(self)
        else:
            self._schedule(deliver, args)

    def flush(self) -> None:
        """Send what has waited for the link."""
        while self._waiting:
            self._schedule(*self._waiting.popleft())

    def drop(self) -> None:
        """Forget what waits: the sender has given up."""
        self._waiting.clear()

    def _schedule(self, deliver: Callable[..., object], args: tuple[Any, ...]) -> None:
        loop = self._link.loop
        self._arrives_at_s = max(loop.time() + self._link.delay_s(), self._arrives_at_s)
        loop.call_at(self._arrives_at_s, deliver, *args, context=self._context)
