"""TLS between a transport and its reader: what comes in is decrypted, what goes out encrypted.

To the transport below this is the reader, and to the reader above it is the transport, on a
`SocketTransport` as on one of asyncio's. OpenSSL works on two buffers in memory: on a socket it
would read one record at a time, and asyncio's own TLS costs nearly twice as much to receive.
Compiled as `_tls_transport`.

Answers wait as they are, in memory or in their file, and are encrypted a slice at a time as the
transport below takes them: of one that is not read, no more than a slice is ever held twice.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.net import tls_memory
from moldau.net.sockets import Reader
from moldau.net.tls_side import TlsSide, reason_of
from moldau.runtime.file_range import FileRange

if not cython.compiled:
    from moldau.net.tls_records import ArrivedRecords
    from moldau.records.memory import copy, start_of, writable_view

_log = logging.getLogger(__name__)

RECORD_MAX_BYTES = tls_memory.RECORD_MAX_BYTES
RECORD_KINDS = range(0x14, 0x18)
# What Java's engine says to bytes that are not TLS: a fatal alert, internal error.
NOT_TLS_ALERT = bytes.fromhex("15030300020250")
SLICE_BYTES = tls_memory.SLICE_BYTES
# A third of a millisecond of encryption, after which others get their turn.
_TURN_BYTES = 524_288
# Of answers to key updates, from one that asks for many and reads none of them.
_UNASKED_MAX_BYTES = 65_536


class TlsTransport:
    """One TLS connection. States: in handshake, secure, closing; or failed, from any of them."""

    def __init__(self, reader: Reader, side: TlsSide) -> None:
        self._reader: Reader | None = reader
        self._side = side
        self._memory = side.memory
        self._loop = asyncio.get_running_loop()
        # Made with the first byte: who connects and says nothing costs next to none of them.
        self._incoming: ssl.MemoryBIO
        self._outgoing: ssl.MemoryBIO
        self._engine: ssl.SSLObject
        self._read_record: Callable[[int, bytearray], int]
        self._rest_of_record: Callable[[], int]
        self._arrived: ArrivedRecords
        self._transport: Any
        self._unsent = bytearray()  # not encrypted yet
        self._unsent_start = 0
        self._unsent_max = 65_536
        self._turn_bytes = _TURN_BYTES
        self._unasked_bytes = 0
        self._file: FileRange | None = None
        self._file_sent = 0
        self._sent: asyncio.Future[None] | None = None
        self._has_begun = False
        self._is_secure = False
        self._has_failed = False
        self._is_full = False
        self._is_blocked = False  # the transport below has not sent the last slice
        self._is_resting = False
        self._is_reading = True
        self._is_below_paused = False
        self._is_draining = False
        self._is_closing = False
        self._holds = False  # what is encrypted, until the next slice
        self.on_secure: Callable[[], None] | None = None
        """Called after the handshake and before the first byte; may raise PermissionError."""

    # What the transport below calls

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.set_write_buffer_limits(high=0)
        assert self._reader is not None
        self._reader.connection_made(self)  # type: ignore[arg-type]

    def connection_lost(self, exc: Exception | None) -> None:
        reader = self._reader
        assert reader is not None, "a connection is lost once"
        self._reader = None  # it refers to this transport: neither would be forgotten
        self.on_secure = None
        self._is_closing = self._has_failed = True
        self._forget_unsent()
        self._settle_file()
        reader.connection_lost(exc)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        return self._memory.received if self._is_secure else self._memory.in_handshake

    def buffer_updated(self, nbytes: int) -> None:
        if self._has_failed:
            return
        if not self._has_begun:
            self._has_begun = True
            if self._memory.received[0] not in RECORD_KINDS:
                self._transport.write(NOT_TLS_ALERT)
                self._fail("what came is not TLS; is security.protocol that of this port?")
                return
            self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            self._engine = self._side.engine(self._incoming, self._outgoing)
            # Its own methods, past functions of Python that only call them: one is for each record.
            engine: Any = getattr(self._engine, "_sslobj", self._engine)
            self._read_record, self._rest_of_record = engine.read, engine.pending
            self._arrived = ArrivedRecords()
        self._incoming.write(self._memory.received[:nbytes])
        self._arrived.came(self._memory.received, nbytes)
        if self._is_secure:
            self._drain()
        elif self._side.may_go_on(self):
            self.step()
        else:
            self._pause_below()

    def pause_writing(self) -> None:
        self._is_blocked = True

    def resume_writing(self) -> None:
        self._is_blocked = False
        self._unasked_bytes = 0
        self._pump()

    def hung_up(self) -> None:
        if self._reader is not None:
            self._reader.hung_up()

    # The handshake

    def step(self) -> None:
        """Go on with the handshake, as far as what has come allows."""
        if self._has_failed or self._is_closing or self._is_secure:
            return
        try:
            self._engine.do_handshake()
            self._is_secure = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            self._flush()  # the alert that says why
            self._fail(reason_of(error))
            return
        self._flush()
        if self._is_secure:
            self._begin()
        else:
            self._resume_below()

    def _begin(self) -> None:
        try:
            if self.on_secure is not None:
                self.on_secure()
        except PermissionError as error:
            self._fail(str(error))
            return
        self._drain()

    def _fail(self, reason: str) -> None:
        self._has_failed = True
        self._pause_below()
        self._side.failed(self, reason)

    # What the reader calls

    def get_extra_info(self, name: str, default: object = None) -> Any:
        """`peercert_der`, the peer's certificate; or what the transport below knows."""
        if name == "peercert_der":
            certificate = self._engine.getpeercert(binary_form=True) if self._is_secure else None
            return default if certificate is None else certificate
        if name == "ssl_object":
            return self._engine if self._has_begun else default
        return self._transport.get_extra_info(name, default)

    def set_write_buffer_limits(self, high: int) -> None:
        """How much may wait here before the reader is asked to pause writing."""
        self._unsent_max = high

    def get_write_buffer_size(self) -> int:
        """How much waits here, encrypted or not."""
        return self._unsent_bytes() + int(self._transport.get_write_buffer_size())

    def is_closing(self) -> bool:
        """Whether nothing more can be written."""
        return self._is_closing or bool(self._transport.is_closing())

    def pause_reading(self) -> None:
        """Keep what has come, and leave the rest to the system."""
        self._is_reading = False
        self._pause_below()

    def resume_reading(self) -> None:
        """Read again, first what is here: the system will not say that."""
        self._is_reading = True
        if not self._is_draining:
            self._loop.call_soon(self.drain)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Encrypt and send at once what the transport takes, and the rest when it takes more."""
        if self._is_closing:
            return
        assert self._is_secure, "nothing is said before the handshake"
        size = len(data)
        sent = 0
        if not self._unsent:
            view = memoryview(data)
            while sent < size and self._may_encrypt():
                sent += self._encrypt(view[sent : sent + SLICE_BYTES])
        if sent == size or self._is_closing:
            return
        self._unsent += memoryview(data)[sent:]
        if not self._is_full and self._unsent_bytes() > self._unsent_max:
            self._is_full = True
            assert self._reader is not None
            self._reader.pause_writing()

    def write_before_file(self, data: bytes | bytearray | memoryview) -> None:
        """Like `write`, but sent with the beginning of the file: that is a call of the system."""
        self._holds = True
        self.write(data)
        self._holds = False

    def send_file_at_once(self, piece: FileRange) -> int:
        """Send what the transport takes now of a range of a file; returns how much that was."""
        if self._unsent or self._is_closing:
            return 0
        self._file, self._file_sent = piece, 0
        self._pump()
        self._file = None
        return self._file_sent

    async def send_file(self, piece: FileRange) -> int:
        """Send a range of a file after all that was written; returns how much there was."""
        self._file, self._file_sent = piece, 0
        self._pump()
        if self._file is not None and not self._is_closing:
            self._sent = self._loop.create_future()
            try:
                await self._sent
            finally:
                self._sent = self._file = None
        if self._is_closing:
            raise ConnectionResetError("the connection is closed")
        return self._file_sent

    def close(self) -> None:
        """Send what was written, say that it was all (close_notify), then close."""
        if self._is_closing:
            return
        self._is_closing = True
        self._settle_file()
        self._pause_below()
        if not self._unsent:
            self._finish()

    def abort(self) -> None:
        """Hang up at once."""
        self._is_closing = True
        self._forget_unsent()
        self._settle_file()
        self._transport.abort()

    def _give_up(self, error: OSError) -> None:
        _log.info("closing %s: %s", self._transport.get_extra_info("peername"), error)
        self._has_failed = True
        self.abort()

    # Reading

    def drain(self) -> None:
        """Give the reader what has come, if it wants it."""
        if self._is_reading and self._is_secure and not self._is_draining:
            self._drain()

    def _drain(self) -> None:
        self._is_draining = True
        is_at_end = False
        try:
            while (
                not is_at_end
                and self._is_reading
                and not self._is_closing
                and self._arrived.whole > 0
            ):
                is_at_end = self._read()
        except ssl.SSLError as error:
            self._flush()  # the alert that says why
            self._give_up(error)
        except Exception:  # noqa: BLE001 - the top frame of an event
            _log.exception("a connection failed")
            self.abort()
        finally:
            self._is_draining = False
        if self._is_closing or self._has_failed:
            return
        self._flush()  # the answer to a key update
        if is_at_end:
            self.close()
        elif self._is_reading:
            self._resume_below()

    def _read(self) -> bool:
        """Fill the reader's buffer; returns whether the peer has said that this was all."""
        reader = self._reader
        assert reader is not None
        buffer = reader.get_buffer(-1)
        room = len(buffer)
        filled = 0
        is_at_end = False
        # Many clients send records of a few bytes: to copy these costs less than a view of the
        # rest of the buffer for each.
        record, arrived = self._memory.record, self._arrived
        target, source, read = writable_view(buffer), start_of(record), self._read_record
        whole_record = self._memory.whole_record
        try:
            while filled < room and arrived.whole > 0:
                left = room - filled
                count = read(left, record) if left < RECORD_MAX_BYTES else read(*whole_record)
                if not count:
                    is_at_end = True
                    break
                copy(target, filled, source, 0, count)
                filled += count
                if count < left or not self._rest_of_record():
                    arrived.whole -= 1
        except ssl.SSLWantReadError:  # after records without content, such as an update of keys
            arrived.whole = 0
        if filled:
            reader.buffer_updated(filled)
        return is_at_end

    def _pause_below(self) -> None:
        if not self._is_below_paused and not self._transport.is_closing():
            self._is_below_paused = True
            self._transport.pause_reading()

    def _resume_below(self) -> None:
        if self._is_below_paused and not self._transport.is_closing():
            self._is_below_paused = False
            self._transport.resume_reading()

    # Writing

    def _encrypt(self, plain: memoryview) -> int:
        """Send a slice, encrypted; returns its size."""
        size = len(plain)
        try:
            written = self._engine.write(plain)
            while written < size:  # a record at a time
                written += self._engine.write(plain[written:])
        except ssl.SSLError as error:
            self._give_up(error)
            return size
        if not self._holds or self._outgoing.pending >= SLICE_BYTES:
            self._transport.write(self._outgoing.read())
        self._turn_bytes -= size
        if self._turn_bytes <= 0 and not self._is_resting:
            self._is_resting = True
            self._loop.call_soon(self.go_on)
        return size

    def _may_encrypt(self) -> bool:
        return not (self._is_blocked or self._is_resting or self._has_failed)

    def go_on(self) -> None:
        """Others have had their turn."""
        self._is_resting = False
        self._turn_bytes = _TURN_BYTES
        self._pump()

    def _pump(self) -> None:
        """Encrypt and send what the transport below takes now."""
        if self._has_failed:
            return
        while self._unsent and self._may_encrypt():
            start = self._unsent_start
            end = min(start + SLICE_BYTES, len(self._unsent))
            with memoryview(self._unsent) as unsent, unsent[start:end] as plain:
                self._unsent_start += self._encrypt(plain)
            if end == len(self._unsent):
                self._forget_unsent()
        while self._file is not None and not self._unsent and self._may_encrypt():
            self._send_slice(self._file)
        if self._is_full and 4 * self._unsent_bytes() <= self._unsent_max:
            self._is_full = False
            if self._reader is not None and not self._is_closing:
                self._reader.resume_writing()
        if self._is_closing and not self._unsent:
            self._finish()

    def _send_slice(self, piece: FileRange) -> None:
        sent, room = self._file_sent, self._memory.slice
        try:
            count = piece.part(piece.position + sent, piece.size - sent).read_into(room)
        except OSError as error:
            self._give_up(error)
            return
        if count:
            self._file_sent = sent + self._encrypt(room[:count])
        if not count or self._file_sent == piece.size:
            self._settle_file()

    def _settle_file(self) -> None:
        self._file = None
        if self._sent is not None and not self._sent.done():
            self._sent.set_result(None)

    def _flush(self) -> None:
        """Send what the engine has to say by itself."""
        if not self._outgoing.pending or self._transport.is_closing():
            return
        said = self._outgoing.read()
        self._transport.write(said)
        if self._is_blocked:
            self._unasked_bytes += len(said)
            if self._unasked_bytes > _UNASKED_MAX_BYTES:
                self.abort()

    def _unsent_bytes(self) -> int:
        return len(self._unsent) - self._unsent_start

    def _forget_unsent(self) -> None:
        self._unsent = bytearray()
        self._unsent_start = 0

    def _finish(self) -> None:
        if self._transport.is_closing():
            return
        if self._is_secure and not self._has_failed:
            with suppress(ssl.SSLError):
                self._engine.unwrap()  # which does not wait for the peer's own
            self._flush()
        self._transport.close()
