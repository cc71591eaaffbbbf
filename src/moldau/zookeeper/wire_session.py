"""A client of ZooKeeper's protocol that blocks, and shows all that comes over the wire."""

import socket
import struct
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from moldau.zookeeper import jute
from moldau.zookeeper.jute import JuteReader
from moldau.zookeeper.messages import NOTIFICATION_XID, PING_XID, Op, framed

_TIMEOUT_S = 20.0
_SESSION_MS = 8_000
_SIZE = struct.Struct(">i")


class Received(NamedTuple):
    """One message of the server."""

    xid: int
    zxid: int
    error: int
    body: bytes


@dataclass(slots=True)
class WireSession:
    """A session that may go from one connection to the next."""

    host: str
    port: int
    session_id: int = 0
    password: bytes = field(default=bytes(16), repr=False)
    last_zxid: int = 0
    timeout_ms: int = 0
    _xid: int = 0
    _socket: socket.socket = field(init=False, repr=False, default_factory=socket.socket)

    def __post_init__(self) -> None:
        self.connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    def connect(self) -> None:
        """Begin a session, or go on with the one that there was."""
        # A connection that was reset is still open here.
        self.cut()
        self._socket = socket.create_connection((self.host, self.port), timeout=_TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        asked = jute.integer(0) + jute.long(self.last_zxid) + jute.integer(_SESSION_MS)
        asked += jute.long(self.session_id) + jute.buffer(self.password) + jute.flag(False)
        try:
            self._socket.sendall(framed(asked))
            reader = JuteReader(self._frame())
        except OSError:
            self.cut()
            raise
        reader.integer()
        timeout_ms, session_id = reader.integer(), reader.long()
        if not timeout_ms:
            self.cut()
            raise ConnectionError("the session has expired")
        self.timeout_ms, self.session_id = timeout_ms, session_id
        self.password = reader.buffer() or b""

    def close(self) -> None:
        """End the session."""
        self.ask(Op.CLOSE_SESSION, b"")
        self.cut()

    def cut(self) -> None:
        """Lose the connection without a word."""
        self._socket.close()

    def ask(self, op: Op, body: bytes, *, xid: int | None = None) -> list[Received]:
        """What comes in up to the answer."""
        if xid is None:
            self._xid += 1
            xid = self._xid
        self.send(op, body, xid)
        found: list[Received] = []
        while not found or found[-1].xid != xid:
            found.append(self.receive())
        return found

    def send(self, op: Op, body: bytes, xid: int) -> None:
        """Ask without waiting."""
        self._socket.sendall(framed(jute.integer(xid) + jute.integer(op) + body))

    def ping(self) -> list[Received]:
        """What has come in without having been asked for."""
        return [each for each in self.ask(Op.PING, b"", xid=PING_XID) if each.xid != PING_XID]

    def receive(self) -> Received:
        """The next message of the server."""
        frame = self._frame()
        reader = JuteReader(frame)
        xid, zxid, error = reader.integer(), reader.long(), reader.integer()
        if xid != NOTIFICATION_XID:
            self.last_zxid = max(self.last_zxid, zxid)
        return Received(xid, zxid, error, frame[len(frame) - reader.left :])

    def _frame(self) -> bytes:
        (size,) = _SIZE.unpack(self._exactly(_SIZE.size))
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            more = self._socket.recv(size - len(found))
            if not more:
                self.cut()
                raise ConnectionError("the server has hung up")
            found += more
        return found
