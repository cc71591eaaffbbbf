"""One end of a simulated connection: asyncio's transport, with TCP's manners.

Bytes arrive in order or not at all. A receiver that does not read makes the sender wait:
at most one window of bytes is under way, the rest stays in the sender's buffer.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import Context
from typing import cast

from moldau.testing.world.life import Life
from moldau.testing.world.link import Pipe
from moldau.testing.world.loop import WorldLoop

_WINDOW_BYTES = 262_144
_HIGH_WATER_BYTES = 65_536

Address = tuple[str, int]


class Stream(asyncio.Transport):
    """An end; `join` gives it its other one."""

    def __init__(self, loop: WorldLoop, life: Life, *, local: Address, remote: Address) -> None:
        super().__init__({"sockname": local, "peername": remote, "socket": _Options()})
        self.life = life
        self.is_open = True
        self.sent_into_the_void = False
        """Whether something was sent to a program that does not exist any more."""
        self.on_end: Callable[[Stream], object] = lambda _: None
        self.on_void: Callable[[Stream], object] = lambda _: None
        self._loop = loop
        self._context: Context | None = None
        self._protocol: asyncio.BaseProtocol | None = None
        self._other: Stream
        self._pipe: Pipe
        self._unsent: deque[bytes] = deque()
        self._unsent_size = 0
        self._under_way_size = 0
        self._high_water = _HIGH_WATER_BYTES
        self._inbox: deque[bytes | None] = deque()  # None: the other end sends no more
        self._is_reading = True
        self._is_closing = False
        self._is_write_paused = False

    def join(self, other: "Stream", pipe: Pipe) -> None:
        """Connect to the other end, over a pipe that leads there."""
        self._other, self._pipe = other, pipe

    @property
    def other(self) -> "Stream":
        """The end on the other machine."""
        return self._other

    def serve(self, protocol: asyncio.BaseProtocol, context: Context) -> None:
        """Give everything that arrives to a protocol."""
        self._protocol, self._context = protocol, context
        protocol.connection_made(self)
        if self.is_open:
            self._loop.call_soon(self._feed, context=context)
        else:
            # It was reset while nobody had accepted it yet.
            self._end(ConnectionResetError("connection reset by peer"))

    # What a protocol calls

    def get_protocol(self) -> asyncio.BaseProtocol:
        assert self._protocol is not None
        return self._protocol

    def write(self, data: bytes | bytearray | memoryview) -> None:
        # A program may end in the middle of a step; what the step does after that is void.
        if self._is_closing or not data or self.life.is_over:
            return
        self._unsent.append(bytes(data))
        self._unsent_size += len(data)
        self._pump()
        if self._unsent_size > self._high_water and not self._is_write_paused:
            self._is_write_paused = True
            self.get_protocol().pause_writing()

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(list_of_data))

    def set_write_buffer_limits(
        self,
        high: int | None = None,
        low: int | None = None,  # noqa: ARG002 - asyncio's signature
    ) -> None:
        self._high_water = _HIGH_WATER_BYTES if high is None else high

    def get_write_buffer_size(self) -> int:
        return self._unsent_size

    def can_write_eof(self) -> bool:
        return False

    def is_closing(self) -> bool:
        return self._is_closing

    def is_reading(self) -> bool:
        return self._is_reading and not self._is_closing

    def pause_reading(self) -> None:
        self._is_reading = False

    def resume_reading(self) -> None:
        self._is_reading = True
        self._loop.call_soon(self._feed, context=self._context)

    def close(self) -> None:
        if not self._is_closing and not self.life.is_over:
            self._is_closing = True
            self._inbox.clear()
            if not self._unsent:
                self._finish()

    def abort(self) -> None:
        if self.is_open and not self.life.is_over:
            self._is_closing = True
            self._unsent.clear()
            # The kernel forgets what it could not send yet.
            self._pipe.drop()
            self._pipe.send(self._other.reset)
            self._end(None)

    # What the other end and the network call

    def reset(self) -> None:
        """The other end has gone without a word."""
        if self.is_open:
            self._is_closing = True
            self._inbox.clear()
            self._end(ConnectionResetError("connection reset by peer"))

    def reset_both(self) -> None:
        """Something on the way resets the connection, and each end is notified."""
        if self.is_open and self._other.is_open:
            self._pipe.send(self._other.reset)
            self._other._pipe.send(self.reset)

    def break_off(self) -> None:
        """The program has gone, but its machine is there to notify the other end."""
        if self.is_open:
            self.is_open = False
            self._pipe.send(self._other.reset)

    def receive(self, data: bytes | None) -> None:
        """Bytes have arrived, or their end."""
        self._loop.note(data or b"")
        if not self._is_closing:
            self._inbox.append(data)
            self._feed()

    def taken(self, size: int) -> None:
        """The receiver has read so many bytes."""
        self._under_way_size -= size
        if self._unsent:
            self._pump()
        if self._is_write_paused and self._unsent_size <= self._high_water // 4:
            self._is_write_paused = False
            self._loop.call_soon(self.get_protocol().resume_writing, context=self._context)
        if self._is_closing and not self._unsent and self.is_open:
            self._finish()

    def _pump(self) -> None:
        while self._unsent and self._under_way_size < _WINDOW_BYTES:
            data = self._unsent.popleft()
            self._unsent_size -= len(data)
            self._under_way_size += len(data)
            self._pipe.send(self._other.receive, data)
            if self._other.life.is_over:
                self.sent_into_the_void = True
                self.on_void(self)

    def _feed(self) -> None:
        while self._inbox and self._is_reading and not self._is_closing and self._protocol:
            data = self._inbox.popleft()
            if data is None:
                if not cast("asyncio.Protocol", self._protocol).eof_received():
                    self.close()
                return
            rest = _give(self._protocol, data)
            if rest:
                self._inbox.appendleft(rest)
            self._other.taken(len(data) - len(rest))

    def _finish(self) -> None:
        self._pipe.send(self._other.receive, None)
        self._end(None)

    def _end(self, error: Exception | None) -> None:
        self.is_open = False
        self.on_end(self)
        if self._protocol is not None:
            self._loop.call_soon(self._protocol.connection_lost, error, context=self._context)


def _give(protocol: asyncio.BaseProtocol, data: bytes) -> bytes:
    """Hand over bytes; returns those for which the protocol has no room."""
    if isinstance(protocol, asyncio.Protocol):
        protocol.data_received(data)
        return b""
    assert isinstance(protocol, asyncio.BufferedProtocol)
    buffer = memoryview(cast("bytearray", protocol.get_buffer(len(data))))
    size = min(len(buffer), len(data))
    buffer[:size] = data[:size]
    protocol.buffer_updated(size)
    return data[size:]


class _Options:
    """Options of a socket, of which none makes a difference here."""

    def setsockopt(self, *_: object) -> None:
        """Nothing happens."""
