"""The network between simulated machines: which listener is called, over which link."""

import asyncio
import errno
import os
import socket
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import Context, copy_context
from itertools import count

from moldau.testing.world.life import CURRENT, NOBODY, Life
from moldau.testing.world.link import NetworkLink, Pipe
from moldau.testing.world.loop import Callback, WorldLoop, context_of
from moldau.testing.world.stream import Address, Stream

_CONNECT_TIMEOUT_S = 127.0
_FIRST_PORT = 32_768

Factory = Callable[[], asyncio.BaseProtocol]
Connected = tuple[asyncio.Transport, asyncio.BaseProtocol]


class ListeningSocket(socket.socket):
    """What a listener binds: calls wait in it until they are accepted."""

    def __init__(self, network: "Network", life: Life, address: Address) -> None:
        # Not initialised as a socket of the operating system, which would take a descriptor.
        self._network = network
        self.life = life
        self.address = address
        self.calls: deque[Stream] = deque()
        self.reader: tuple[Callable[[], object], Context] | None = None

    def getsockname(self) -> Address:
        return self.address

    def accept(self) -> tuple["AcceptedSocket", Address]:
        if not self.calls:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        stream = self.calls.popleft()
        return AcceptedSocket(stream), stream.get_extra_info("peername")

    def close(self) -> None:
        self._network.forget(self)


class AcceptedSocket(socket.socket):
    """A call that was accepted, and has no protocol yet."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def setblocking(self, flag: bool, /) -> None:
        """Nothing blocks here."""

    def close(self) -> None:
        self.stream.abort()


class Network:
    """All machines see each other, until a link is cut."""

    def __init__(self, loop: WorldLoop, draw: Callable[[], float]) -> None:
        """`draw` gives a number in [0, 1)."""
        self._loop = loop
        self._draw = draw
        self._kernel = context_of(NOBODY)
        self._links: dict[tuple[str, str], NetworkLink] = {}
        self._listening: dict[Address, ListeningSocket] = {}
        self._streams: dict[Stream, None] = {}
        self._without_power: dict[str, None] = {}
        self._refused: dict[tuple[str, str], None] = {}
        self._ports = count(_FIRST_PORT)

    def link(self, source: str, target: str) -> NetworkLink:
        """The way from one machine to another."""
        found = self._links.get((source, target))
        if found is None:
            found = self._links[source, target] = NetworkLink(self._loop, self._draw)
        return found

    def links(self) -> Iterator[NetworkLink]:
        """Every link that was used."""
        yield from self._links.values()

    # What programs do

    def bind(self, host: str, port: int) -> ListeningSocket:
        """Listen on the machine that the current program runs on."""
        address = (host, port or next(self._ports))
        if address in self._listening:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        listening = self._listening[address] = ListeningSocket(self, CURRENT.get(), address)
        return listening

    async def connect(self, factory: Factory, host: str, port: int) -> Connected:
        """Call a listener; a machine without power does not answer."""
        life = CURRENT.get()
        answer: asyncio.Future[Stream] = self._loop.create_future()
        local, remote = (life.machine, next(self._ports)), (host, port)
        ring = Pipe(self.link(life.machine, host), self._kernel)
        ring.send(self._ring, life, local, remote, answer)
        timer = self._loop.call_later(_CONNECT_TIMEOUT_S, _refuse, answer, TimeoutError())
        try:
            stream = await answer
        finally:
            timer.cancel()
        protocol = factory()
        stream.serve(protocol, copy_context())
        return stream, protocol

    async def attach(self, factory: Factory, accepted: AcceptedSocket) -> Connected:
        """Serve a caller that was accepted."""
        protocol = factory()
        accepted.stream.serve(protocol, copy_context())
        return accepted.stream, protocol

    def watch(self, listening: ListeningSocket, callback: Callback, *args: object) -> None:
        """Call back when a client connects."""
        context = copy_context()
        listening.reader = (lambda: callback(*args)), context
        if listening.calls:
            self._loop.call_soon(callback, *args, context=context)

    def unwatch(self, listening: ListeningSocket) -> bool:
        """Do not call back."""
        was_watched = listening.reader is not None
        listening.reader = None
        return was_watched

    def forget(self, listening: ListeningSocket) -> None:
        """Stop listening there; connections that were not accepted are closed."""
        if self._listening.get(listening.address) is listening:
            del self._listening[listening.address]
        for stream in listening.calls:
            stream.abort()

    # What happens to programs and machines

    def end(self, life: Life, *, is_power_lost: bool) -> None:
        """A program has ended: its machine notifies the others, unless it has ended as well."""
        if is_power_lost:
            self._without_power[life.machine] = None
        for listening in [one for one in self._listening.values() if one.life is life]:
            del self._listening[listening.address]
        for stream in [stream for stream in self._streams if stream.life is life]:
            if not is_power_lost:
                stream.break_off()
                del self._streams[stream]

    def power_on(self, machine: str) -> None:
        """A machine is back, and knows nothing of earlier connections."""
        self._without_power.pop(machine, None)
        for stream in tuple(self._streams):
            is_left_over = stream.life.is_over and stream.life.machine == machine
            if is_left_over and stream.other.sent_into_the_void:
                stream.break_off()
                del self._streams[stream]

    def refuse(self, source: str, target: str) -> None:
        """Reset what one machine has to another, and refuse its calls, whatever listens there."""
        self._refused[source, target] = None
        self.reset(source, target)

    def take(self, source: str, target: str) -> None:
        """Let calls through again."""
        self._refused.pop((source, target), None)

    def take_all(self) -> None:
        """Refuse nobody."""
        self._refused.clear()

    def reset(self, source: str, target: str) -> None:
        """Reset the connections that one machine has made to another, at both ends."""
        for stream in tuple(self._streams):
            is_called = stream.get_extra_info("sockname") in self._listening
            ends = stream.other.life.machine, stream.life.machine
            if is_called and ends == (source, target):
                stream.reset_both()

    def scrap(self) -> None:
        """Let go of everything, at the end of the world."""
        self._streams.clear()
        self._listening.clear()
        self._links.clear()

    # At the machine that is called

    def _ring(
        self, caller: Life, local: Address, remote: Address, answer: asyncio.Future[Stream]
    ) -> None:
        if remote[0] in self._without_power or caller.is_over:
            return
        back = Pipe(self.link(remote[0], local[0]), context_of(caller))
        listening = self._listening.get(remote)
        if listening is None or (local[0], remote[0]) in self._refused:
            back.send(
                _refuse, answer, ConnectionRefusedError(errno.ECONNREFUSED, "connection refused")
            )
            return
        ours = Stream(self._loop, caller, local=local, remote=remote)
        theirs = Stream(self._loop, listening.life, local=remote, remote=local)
        ours.join(theirs, self._pipe(ours, theirs))
        theirs.join(ours, self._pipe(theirs, ours))
        for stream in (ours, theirs):
            self._streams[stream] = None
            stream.on_end, stream.on_void = self._gone, self._void
        listening.calls.append(theirs)
        if listening.reader is not None:
            callback, context = listening.reader
            self._loop.call_soon(callback, context=context)
        back.send(_accept, answer, ours)

    def _pipe(self, source: Stream, target: Stream) -> Pipe:
        return Pipe(self.link(source.life.machine, target.life.machine), context_of(target.life))

    def _void(self, stream: Stream) -> None:
        """Something was sent to a program that is no more."""
        if stream.other.life.machine not in self._without_power:
            stream.other.break_off()

    def _gone(self, stream: Stream) -> None:
        self._streams.pop(stream, None)


def _accept(answer: asyncio.Future[Stream], stream: Stream) -> None:
    if answer.done():
        stream.abort()
    else:
        answer.set_result(stream)


def _refuse(answer: asyncio.Future[Stream], error: OSError) -> None:
    if not answer.done():
        answer.set_exception(error)
