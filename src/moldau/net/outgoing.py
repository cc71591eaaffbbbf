# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Answers on their way out of one connection: in memory, and in files that are sent as they are.

Compiled as `_outgoing`.
"""

import asyncio
from typing import IO, TYPE_CHECKING, Protocol, cast

from moldau.net.answer import CloseConnection, Part
from moldau.runtime.file_range import FileRange
from moldau.runtime.threads import in_thread

if TYPE_CHECKING:
    from moldau.net.sockets import SocketTransport

_SENDFILE_MAX_BYTES = 4_194_304


class FileSender(Protocol):
    """A connection, while it sends a file."""

    def begins_piece(self) -> None:
        """A part of the file goes out: one that does not read it has its time."""

    def sent_file(self) -> None:
        """The file is out."""


class OutgoingAnswers:
    """What waits to be written is gathered, and written together."""

    def __init__(self, sendfile_min: int) -> None:
        """Shorter ranges of files than `sendfile_min` are copied."""
        self._sendfile_min = sendfile_min
        self._parts: list[bytes | bytearray | memoryview] = []
        self._transport: asyncio.Transport | SocketTransport
        self._is_asyncio = False
        self.is_sending_file = False

    def attach(self, transport: "asyncio.Transport | SocketTransport") -> None:
        """Write to this one."""
        self._transport = transport
        self._is_asyncio = isinstance(transport, asyncio.Transport)

    def forget(self) -> None:
        """Keep nothing."""
        self._parts.clear()

    def add(self, part: bytes) -> None:
        """Put bytes behind what waits to be written."""
        self._parts.append(part)

    def take(self, parts: list[Part]) -> bool:
        """Put what is in memory behind what waits to be written; False if some of it is not."""
        taken: list[bytes | bytearray | memoryview] = []
        for part in parts:
            if isinstance(part, FileRange):
                if part.size >= self._sendfile_min:
                    return False
                try:
                    data = part.read_cached()
                except OSError:
                    return False  # which is raised where it is read once more
                if data is None:
                    return False
                taken.append(data)
            else:
                taken.append(part)
        self._parts += taken
        return True

    def flush(self, is_file_next: bool = False) -> None:
        """Write what waits."""
        if not self._parts:
            return
        parts, self._parts = self._parts, []
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        if self._transport.is_closing():
            return
        if is_file_next and not self._is_asyncio:
            cast("SocketTransport", self._transport).write_before_file(data)
        else:
            self._transport.write(data)

    def send_at_once(self, parts: list[Part]) -> list[Part]:
        """Send what the system takes without a wait; what is left of the answer."""
        if self._is_asyncio:
            return parts
        for index, part in enumerate(parts):
            if not isinstance(part, FileRange):
                self._parts.append(part)
                continue
            try:
                is_cached = part.size <= _SENDFILE_MAX_BYTES and part.seems_cached()
            except OSError:
                is_cached = False  # which is raised where it is read once more
            if not is_cached:
                return parts[index:]
            self.flush(is_file_next=True)
            sent = cast("SocketTransport", self._transport).send_file_at_once(part)
            if sent < part.size:
                return [part.part(part.position + sent, part.size - sent), *parts[index + 1 :]]
        return []

    async def send(self, parts: list[Part], sender: FileSender) -> None:
        """Send an answer, which may have to wait for the disk or for the client."""
        for part in parts:
            if not isinstance(part, FileRange):
                self._parts.append(part)
            elif part.size < self._sendfile_min:
                data = part.read_cached()
                if data is None:
                    data = await in_thread(part.read)
                self._parts.append(data)
            else:
                self.flush(is_file_next=True)
                await self._send_file(part, sender)

    async def _send_file(self, part: FileRange, sender: FileSender) -> None:
        position, end = part.position, part.position + part.size
        self.is_sending_file = True
        try:
            while position < end:
                piece = part.part(position, min(end - position, _SENDFILE_MAX_BYTES))
                if not piece.seems_cached():
                    # sendfile would wait for the device, and all other clients with it.
                    await in_thread(piece.read_ahead)
                # asyncio does not report progress: the stall deadline holds for each piece.
                sender.begins_piece()
                position += await self._send_piece(piece)
        except asyncio.CancelledError:
            # A transport that is closed while asyncio sends from it leaves its descriptor in
            # the selector, where the next connection of that number would stumble over it.
            self.is_sending_file = False
            self._transport.abort()
            raise
        self.is_sending_file = False
        sender.sent_file()

    async def _send_piece(self, piece: FileRange) -> int:
        transport = self._transport
        if isinstance(transport, asyncio.Transport):
            # asyncio wants a file object, and uses nothing of it but fileno().
            file = cast("IO[bytes]", piece)
            sent = await asyncio.get_running_loop().sendfile(
                transport, file, piece.position, piece.size, fallback=False
            )
        else:
            sent = await transport.send_file(piece)
        if sent != piece.size:
            # The client was promised more bytes than the file has: it must not wait for them.
            raise CloseConnection(f"a file ended at {piece.position + sent}, too early")
        return sent
