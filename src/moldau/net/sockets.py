# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Connected sockets, watched together and read and written without asyncio's transports.

An event of asyncio costs about as much as a small request: a selector, a handle, a context and
a transport, all of them in Python. A `Poller` is one event for all sockets that have something
to say, and a `SocketTransport` the part of a transport that connections use. Both are compiled
as `_sockets`. Where there is no epoll, and for connections that are not plain sockets, asyncio's
own transports do the same.
"""

import asyncio
import logging
import os
import select
import socket
from typing import Any, Protocol

from moldau.runtime.file_range import FileRange

_log = logging.getLogger(__name__)

IS_AVAILABLE = hasattr(select, "epoll")
READABLE = 0x001  # EPOLLIN
WRITABLE = 0x004  # EPOLLOUT
BROKEN = 0x018  # EPOLLERR and EPOLLHUP, which are always reported
HANG_UP = 0x2000  # EPOLLRDHUP
NOTHING = 0
EVENTS_MAX = 256
# Of one socket in one event: a third of a millisecond's decryption.
READ_MAX_BYTES = 524_288
# Not part of Windows' socket module, which has no epoll either.
MORE_FOLLOWS = getattr(socket, "MSG_MORE", 0)


class Reader(Protocol):
    """Receives from a socket, as asyncio.BufferedProtocol does."""

    def connection_made(self, transport: "SocketTransport") -> None: ...
    def connection_lost(self, exc: Exception | None) -> None: ...
    def get_buffer(self, sizehint: int) -> memoryview: ...
    def buffer_updated(self, nbytes: int) -> None: ...
    def pause_writing(self) -> None: ...
    def resume_writing(self) -> None: ...
    def hung_up(self) -> None: ...


class Poller:
    """Watches the sockets of one listener."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._epoll = select.epoll()
        self._transports: dict[int, SocketTransport] = {}
        self._masks: dict[int, int] = {}
        self.loop.add_reader(self._epoll.fileno(), self.turn)

    def turn(self) -> None:
        """Let every socket with something to read, or room to write, do so."""
        for descriptor, events in self._epoll.poll(0, EVENTS_MAX):
            transport = self._transports.get(descriptor)
            if transport is not None:  # or one before it has closed this one
                transport.ready(events)

    def watch(self, transport: "SocketTransport", mask: int) -> None:
        """Call this transport for these events from now on.

        One that waits for none is not watched at all: the system would go on reporting that its
        peer has gone.
        """
        descriptor = transport.descriptor
        before = self._masks.get(descriptor, NOTHING)
        if mask == before:
            return
        if mask == NOTHING:
            self._epoll.unregister(descriptor)
            del self._masks[descriptor], self._transports[descriptor]
            return
        if before == NOTHING:
            self._epoll.register(descriptor, mask)
            self._transports[descriptor] = transport
        else:
            self._epoll.modify(descriptor, mask)
        self._masks[descriptor] = mask

    def close(self) -> None:
        """Watch no more; the transports must have been closed before."""
        self.loop.remove_reader(self._epoll.fileno())
        self._epoll.close()


class SocketTransport:
    """Reads from a socket into its reader's buffer, and writes to it."""

    def __init__(self, poller: Poller, connected: socket.socket, reader: Reader) -> None:
        """Begins to read at once; `connected` must not block."""
        self._poller = poller
        self._socket = connected
        self._reader: Reader | None = reader
        self.descriptor = connected.fileno()
        self._peer_name: object = None
        self._unsent = bytearray()
        self._unsent_max = 65_536
        self._is_full = False
        self._is_reading = True
        self._has_hung_up = False
        self._is_closing = False
        self._has_ended = False
        self._file: FileRange | None = None
        self._file_sent = 0
        self._sent: asyncio.Future[None] | None = None
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        reader.connection_made(self)
        self._watch()

    def get_extra_info(self, name: str, default: object = None) -> Any:
        """The socket or one of its two addresses."""
        if name == "socket":
            return self._socket
        try:
            if name == "peername":
                if self._peer_name is None:  # asked for several times for each connection
                    self._peer_name = self._socket.getpeername()
                return self._peer_name
            if name == "sockname":
                return self._socket.getsockname()
        except OSError:
            return default
        return default

    def set_write_buffer_limits(self, high: int) -> None:
        """How much may wait here before the reader is asked to pause writing."""
        self._unsent_max = high

    def get_write_buffer_size(self) -> int:
        """How much waits here."""
        return len(self._unsent)

    def is_closing(self) -> bool:
        """Whether nothing more can be written."""
        return self._is_closing

    # Reading

    def ready(self, events: int) -> None:
        """What the poller calls."""
        if events & WRITABLE:
            self._write_rest()
        if events == WRITABLE or self._is_closing:
            return
        if self._is_reading:
            self._read()  # which finds errors and the end as well
        elif events & BROKEN:
            self._break(None)
        elif events & HANG_UP:
            # What came before it is still to be read; the system would repeat itself.
            self._has_hung_up = True
            self._watch()
            assert self._reader is not None
            self._reader.hung_up()

    def _read(self) -> None:
        """Read what has come, again as long as it fills what the reader has room for.

        Others have their turn after so much.
        """
        reader = self._reader
        assert reader is not None
        left = READ_MAX_BYTES
        while True:
            buffer = reader.get_buffer(-1)
            room = len(buffer)
            try:
                size = self._socket.recv_into(buffer)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self._break(error)
                return
            if size == 0:
                self.close()
                return
            try:
                reader.buffer_updated(size)
            except Exception as error:  # noqa: BLE001 - the top frame of an event
                _log.exception("a connection failed")
                self._break(error)
                return
            left -= size
            if size < room or left <= 0 or not self._is_reading or self._is_closing:
                return

    def pause_reading(self) -> None:
        """Leave to the system what comes in; the reader is still notified of a hang-up."""
        self._is_reading = False
        self._watch()

    def resume_reading(self) -> None:
        """Read again."""
        self._is_reading = True
        self._watch()

    # Writing

    def write(self, data: bytes | bytearray | memoryview, flags: int = 0) -> None:
        """Send at once what the system takes, and the rest when it takes more."""
        if self._is_closing:
            return
        sent = 0
        if not self._unsent:
            try:
                sent = self._socket.send(data, flags)
            except (BlockingIOError, InterruptedError):
                sent = 0
            except OSError as error:
                self._break(error)
                return
            if sent == len(data):
                return
        self._unsent += memoryview(data)[sent:]
        self._watch()
        if not self._is_full and len(self._unsent) > self._unsent_max:
            self._is_full = True
            assert self._reader is not None
            self._reader.pause_writing()

    def write_before_file(self, data: bytes | bytearray | memoryview) -> None:
        """Like `write`, but the receiver need not be woken before the file that follows."""
        self.write(data, MORE_FOLLOWS)

    def send_file_at_once(self, piece: FileRange) -> int:
        """Send what the system takes now of a range of a file; returns how much that was."""
        if self._unsent or self._is_closing:
            return 0
        self._file = piece
        self._file_sent = 0
        self._write_file()
        self._file = None
        return self._file_sent

    async def send_file(self, piece: FileRange) -> int:
        """Send a range of a file after all that was written; returns how much there was."""
        self._file = piece
        self._file_sent = 0
        if not self._unsent:
            self._write_file()
        if self._file is not None and not self._is_closing:
            self._sent = self._poller.loop.create_future()
            self._watch()
            try:
                await self._sent
            finally:
                self._sent = self._file = None
                self._watch()
        if self._is_closing:
            raise ConnectionResetError("the connection is closed")
        return self._file_sent

    def _write_file(self) -> None:
        """Send of the file what the system takes; none is left at its end."""
        piece = self._file
        assert piece is not None
        sent = self._file_sent
        try:
            while sent < piece.size:
                count = os.sendfile(
                    self.descriptor, piece.fileno(), piece.position + sent, piece.size - sent
                )
                if count == 0:
                    break
                sent += count
            self._file = None
        except (BlockingIOError, InterruptedError):
            pass
        except OSError as error:
            self._break(error)
        self._file_sent = sent

    def _write_rest(self) -> None:
        if self._unsent:
            try:
                del self._unsent[: self._socket.send(self._unsent)]
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self._break(error)
                return
        if not self._unsent and self._file is not None:
            self._write_file()
        if self._file is None and self._sent is not None and not self._sent.done():
            self._sent.set_result(None)
        if self._is_full and 4 * len(self._unsent) <= self._unsent_max:
            self._is_full = False
            assert self._reader is not None
            self._reader.resume_writing()
        if self._is_closing and not self._unsent:
            self._end(None)
        else:
            self._watch()

    def _watch(self) -> None:
        if self._has_ended:
            return
        mask = NOTHING
        if self._is_reading and not self._is_closing:
            mask = READABLE
        elif not self._has_hung_up and not self._is_closing:
            mask = HANG_UP  # no request may wait for ever for a peer that has gone
        if self._unsent or self._file is not None:
            mask |= WRITABLE
        self._poller.watch(self, mask)

    # Closing

    def close(self) -> None:
        """Send what was written, then close."""
        if self._is_closing:
            return
        self._is_closing = True
        if self._unsent:
            self._watch()
        else:
            self._end(None)

    def abort(self) -> None:
        """Hang up at once."""
        self._break(None)

    def _break(self, error: Exception | None) -> None:
        self._is_closing = True
        self._unsent.clear()
        self._end(error)

    def _end(self, error: Exception | None) -> None:
        """Stop polling; the caller may still be on the reader's stack."""
        if self._has_ended:
            return
        self._has_ended = True
        if self._sent is not None and not self._sent.done():
            self._sent.set_result(None)
        self._poller.watch(self, NOTHING)
        self._poller.loop.call_soon(self.lose, error)

    def lose(self, error: Exception | None) -> None:
        """Notify the reader, for the last time."""
        reader = self._reader
        assert reader is not None, "a connection is lost once"
        self._reader = None  # it refers to this transport: neither would be forgotten
        try:
            reader.connection_lost(error)
        finally:
            self._socket.close()
