"""One listening socket: accepts connections, counts them, ends those past their deadlines."""

import asyncio
import errno
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moldau.config.listeners import LOOPBACK
from moldau.net.admission import Admission
from moldau.net.answer import Limits
from moldau.net.handshakes import Handshakes
from moldau.runtime import native

if TYPE_CHECKING:
    from moldau.net.connection import Connection, Open
    from moldau.net.sockets import Poller
    from moldau.net.tls_transport import TlsTransport

_log = logging.getLogger(__name__)

_connections = native.kernel("moldau.net._connection", "moldau.net.connection")
_sockets = native.kernel("moldau.net._sockets", "moldau.net.sockets")
_tls = native.kernel("moldau.net._tls_transport", "moldau.net.tls_transport")

_OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_SWEEP_INTERVAL_S = 1.0
_SWEPT_AT_ONCE = 500
_CALLERS_MAX = 100

Bind = Callable[[str, int], socket.socket]
"""Makes a listening socket for a host and a port."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a listener listens, under the name that the configuration gives it."""

    name: str
    host: str
    port: int


_LOOPBACK_ADDRESSES = ("127.0.0.1", "::1")
_NO_SUCH_ADDRESS = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


def bind_host(host: str, port: int, bind: Bind) -> list[socket.socket]:
    """Listening sockets for a host: one, and for `localhost` one on each loopback address.

    Clients take the name for 127.0.0.1 or for ::1, as they like, and no socket serves both.
    """
    if host != LOOPBACK:
        return [bind(host, port)]
    found: list[socket.socket] = []
    missing: OSError | None = None
    for address in _LOOPBACK_ADDRESSES:
        try:
            found.append(bind(address, port or (found[0].getsockname()[1] if found else 0)))
        except OSError as error:
            # A free port of the one address may be taken on the other.
            is_drawn = port == 0 and found and error.errno == errno.EADDRINUSE
            if error.errno not in _NO_SUCH_ADDRESS and not is_drawn:
                for listening in found:
                    listening.close()
                raise
            missing = error
    if not found:
        assert missing is not None
        raise missing
    return found


def listen(host: str, port: int) -> socket.socket:
    """A listening socket on one address; an empty host means all of them, IPv6 included."""
    wanted = host or None
    try:
        found = socket.getaddrinfo(wanted, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        message = f"cannot listen on {host}:{port}: {error.strerror}"
        raise OSError(error.errno, message) from error
    # A name with addresses of both families stands for that of IPv4, as with Java.
    first = socket.AF_INET6 if wanted is None else socket.AF_INET
    family, kind, protocol, _, address = min(found, key=lambda info: info[0] != first)
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(wanted is not None))
        listening.setblocking(False)
        listening.bind(address)
        listening.listen(socket.SOMAXCONN)
    except OSError as error:
        listening.close()
        message = f"cannot listen on {host}:{port}: {error.strerror}"
        raise OSError(error.errno, message) from error
    return listening


# What reads from one of asyncio's transports, which look at the class of their protocol.
_ConnectionOnTransport = type(
    "_ConnectionOnTransport", (_connections.Connection, asyncio.BufferedProtocol), {}
)
_TlsOnTransport = type("_TlsOnTransport", (_tls.TlsTransport, asyncio.BufferedProtocol), {})


class Listener:
    """Accepts on one socket; one event loop plays Kafka's acceptor and processors."""

    def __init__(
        self,
        endpoint: Endpoint,
        opening: "Open",
        *,
        limits: Limits,
        admission: Admission,
        bind: Bind = listen,
    ) -> None:
        self.endpoint = endpoint
        self.handshakes: Handshakes | None = None
        """Set for TLS, before it serves."""
        self._opening = opening
        self._limits = limits
        self.admission = admission
        self._connections: dict[Connection, None] = {}
        self._poller: Poller | None = None
        self._sockets = bind_host(endpoint.host, endpoint.port, bind)
        self.port: int = self._sockets[0].getsockname()[1]

    @property
    def connection_count(self) -> int:
        """How many connections are open."""
        return len(self._connections)

    async def serve(self) -> None:
        """Accept and watch until cancelled; then close all connections."""
        is_selecting = isinstance(asyncio.get_running_loop(), asyncio.SelectorEventLoop)
        if is_selecting and _sockets.IS_AVAILABLE:
            self._poller = _sockets.Poller()
        try:
            async with asyncio.TaskGroup() as tasks:
                for listening in self._sockets:
                    tasks.create_task(self._accept(listening))
                tasks.create_task(self._sweep())
        finally:
            self.close()

    def close(self) -> None:
        """Stop listening and close all connections."""
        for listening in self._sockets:
            listening.close()
        for connection in tuple(self._connections):
            connection.abort()
        self.admission.let_all_go()
        if self._poller is not None:
            self._poller.close()
            self._poller = None

    def opened(self, connection: "Connection") -> None:
        """Count a new connection, unless its address has too many."""
        self._connections[connection] = None
        if not self.admission.opened(connection, self.endpoint.name):
            _log.info("closing %s: too many connections from its address", connection.peer)
            connection.abort()

    def closed(self, connection: "Connection") -> None:
        """Forget a connection."""
        del self._connections[connection]
        self.admission.closed(connection)

    async def _accept(self, listening: socket.socket) -> None:
        name, loop = self.endpoint.name, asyncio.get_running_loop()
        while True:
            await self.admission.until_room(name)
            wait_s = self.admission.wait_s(name, loop.time())
            if wait_s:
                await asyncio.sleep(wait_s)
                continue
            try:
                await self._attach_callers(listening)
                if self._poller is None:
                    await self._connect_all(self._take_callers(listening))
            except OSError as error:
                if error.errno not in _OUT_OF_DESCRIPTORS:
                    raise
                _log.warning("Failed to accept connections on %s: %s; retrying", name, error)
                await asyncio.sleep(_SWEEP_INTERVAL_S)

    async def _attach_callers(self, listening: socket.socket) -> None:
        """Have callers attached as they come, until they have to wait, or need a task."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        loop.add_reader(listening, self._somebody_calls, listening, ended)
        try:
            await ended
        finally:
            loop.remove_reader(listening)

    def _somebody_calls(self, listening: socket.socket, ended: asyncio.Future[None]) -> None:
        name, now_s = self.endpoint.name, asyncio.get_running_loop().time()
        if ended.done():
            return
        poller, must_wait = self._poller, self.admission.wait_s(name, now_s) > 0
        if poller is None or must_wait or self.admission.room_on(name) <= 0:
            ended.set_result(None)
            return
        try:
            for caller in self._take_callers(listening):
                self._attach(poller, caller)
        except Exception as error:  # noqa: BLE001 - raised again where it is waited for
            ended.set_exception(error)

    def _attach(self, poller: "Poller", caller: socket.socket) -> None:
        if not self.admission.holds(caller):
            try:
                _sockets.SocketTransport(poller, caller, self._reader())
            except OSError as error:
                _lost(caller, error)

    def _take_callers(self, listening: socket.socket) -> list[socket.socket]:
        """Accept the waiting connections that there is room for.

        Not `loop.sock_accept`: cancelled in the wrong moment it drops what it accepted.
        """
        room = min(self.admission.at_once(self.endpoint.name), _CALLERS_MAX)
        callers: list[socket.socket] = []
        with suppress(BlockingIOError, ConnectionAbortedError):  # none waits, or it has closed
            while len(callers) < room:
                try:
                    caller, _ = listening.accept()
                except OSError:
                    if callers:
                        break  # these first; the next call raises it, if it lasts
                    raise
                caller.setblocking(False)
                callers.append(caller)
        name, now_s = self.endpoint.name, asyncio.get_running_loop().time()
        self.admission.took(name, len(callers), now_s)
        return callers

    async def _connect_all(self, callers: list[socket.socket]) -> None:
        """All at once: each takes a few turns of the loop, and a whole fleet may be calling."""
        waiting = dict.fromkeys(callers)
        try:
            await asyncio.gather(*(self._connect(caller, waiting) for caller in callers))
        finally:
            for caller in waiting:  # cancelled before its turn
                caller.close()

    async def _connect(self, caller: socket.socket, waiting: dict[socket.socket, None]) -> None:
        loop = asyncio.get_running_loop()
        del waiting[caller]
        if self.admission.holds(caller):
            return
        try:
            await loop.connect_accepted_socket(self._on_transport, caller)
        except OSError as error:
            _lost(caller, error)

    def _reader(self) -> "Connection | TlsTransport":
        """A new connection, behind TLS or not."""
        connection: Connection = _connections.Connection(self, self._opening, self._limits)
        if self.handshakes is None:
            return connection
        secured: TlsTransport = _tls.TlsTransport(connection, self.handshakes)
        return secured

    def _on_transport(self) -> asyncio.BufferedProtocol:
        made: asyncio.BufferedProtocol
        if self.handshakes is None:
            made = _ConnectionOnTransport(self, self._opening, self._limits)
        else:
            connection = _connections.Connection(self, self._opening, self._limits)
            made = _TlsOnTransport(connection, self.handshakes)
        return made

    async def _sweep(self) -> None:
        """One pass per second over all connections costs less than a timer for each."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_SWEEP_INTERVAL_S)
            for number, connection in enumerate(tuple(self._connections)):
                if number % _SWEPT_AT_ONCE == _SWEPT_AT_ONCE - 1:
                    await asyncio.sleep(0)  # others get their turn
                if connection not in self._connections:
                    continue
                overdue = self._overdue(connection, loop.time())
                if overdue:
                    _log.info("closing %s: %s", connection.peer, overdue)
                    connection.reset()
                elif loop.time() - connection.last_activity_s > _SWEEP_INTERVAL_S:
                    connection.shrink()

    def _overdue(self, connection: "Connection", now_s: float) -> str:
        limits = self.admission.limits
        if connection.transport.is_closing():
            # Hung up on, by us or by itself, and what it was answered has not gone yet.
            if connection.closing_since_s is None:
                connection.closing_since_s = now_s
            if now_s - connection.closing_since_s > limits.write_stall_s:
                return f"it did not read its last answers within {limits.write_stall_s:g} s"
            return ""
        unknown = connection.unknown_since_s
        if unknown is not None and now_s - unknown > limits.handshake_s:
            return f"it did not say who it is within {limits.handshake_s:g} s"
        began, blocked = connection.frame_began_s, connection.write_blocked_since_s
        if began is not None and now_s - began > limits.frame_s:
            return f"a request did not arrive within {limits.frame_s:g} s"
        if blocked is not None and now_s - blocked > limits.write_stall_s:
            return f"it read no answer for {limits.write_stall_s:g} s"
        silent_s = now_s - connection.last_activity_s
        if connection.has_hung_up and silent_s > limits.frame_s:
            return "it has hung up, and a request of it still waits"
        if connection.is_read_paused and silent_s > limits.idle_s:
            return f"a request has waited for {limits.idle_s:g} s before others"
        if connection.is_idle and silent_s > limits.idle_s:
            return f"idle for {limits.idle_s:g} s"
        return ""


def _lost(caller: socket.socket, error: OSError) -> None:
    _log.info("Connection lost before it was accepted: %s", error)
    caller.close()
