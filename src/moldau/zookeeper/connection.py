"""A client's connection: its bytes become messages, and its answers leave in their order."""

import asyncio
from typing import TYPE_CHECKING

from moldau.coordination.tree import WatchEvent
from moldau.zookeeper.messages import notification
from moldau.zookeeper.rights import NodeRight, is_allowed

if TYPE_CHECKING:
    from moldau.zookeeper.requests import TreeClient
    from moldau.zookeeper.server import TreeServer

_SIZE_BYTES = 4
FRAME_MAX = 0xFFFFF
"""ZooKeeper's own limit, `jute.maxbuffer`."""
_WORD_BYTES = 4
_UNDER_WAY_MAX = 1_000


class TreeConnection(asyncio.Protocol):
    """Speaks the protocol with one client."""

    def __init__(self, server: "TreeServer") -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._unsent: list[bytes] = []
        self._under_way = 0
        self._is_slow = False
        self.client: TreeClient[TreeConnection] | None = None
        """Who asks, once a session was begun or resumed."""
        self.host = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The server takes it in, or is full."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        name = transport.get_extra_info("peername")
        # A client on a Unix socket is on this machine.
        self.host = name[0] if isinstance(name, tuple) else "127.0.0.1"
        if not self._server.take_in(self):
            transport.abort()

    def connection_lost(self, _: Exception | None) -> None:
        """Its watches are gone; its session has its time to come back."""
        self._server.let_go(self)
        self._transport = None

    def data_received(self, data: bytes) -> None:
        """Handle the messages that are complete."""
        self._received += data
        while self._transport is not None and len(self._received) >= _SIZE_BYTES:
            size = int.from_bytes(self._received[:_SIZE_BYTES], "big", signed=True)
            if self.client is None and self._answer_word():
                return
            if not 0 <= size <= FRAME_MAX:
                self.abort()
                return
            if len(self._received) < _SIZE_BYTES + size:
                return
            frame = memoryview(bytes(self._received[_SIZE_BYTES : _SIZE_BYTES + size]))
            del self._received[: _SIZE_BYTES + size]
            self._server.receive(self, frame)

    def _answer_word(self) -> bool:
        """Answer one of the four letters that people type into a terminal."""
        word = bytes(self._received[:_WORD_BYTES])
        answer = self._server.word(word.decode("ascii", errors="replace"))
        if answer is None:
            return False
        self.send(answer.encode())
        self.close()
        return True

    def begin_request(self) -> None:
        """One more answer is awaited; with too many, nothing more is read."""
        self._under_way += 1
        self._balance()

    def end_request(self) -> None:
        """One less."""
        self._under_way -= 1
        self._balance()

    def send(self, data: bytes) -> None:
        """Send an answer, unless the client has gone.

        All that leaves in one turn of the loop leaves together: one commit answers many requests,
        and each call of the system costs as much as a request.
        """
        if self._transport is None:
            return
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._flush)
        self._unsent.append(data)

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        if self._transport is not None and unsent:
            self._transport.write(b"".join(unsent))

    def may_read(self, acls: str) -> bool:
        """Whether its client may be notified of a node with this list of rights."""
        return self.client is not None and is_allowed(acls, NodeRight.READ, self.client.ids)

    def notify(self, event: WatchEvent) -> None:
        """Send what a watch was waiting for."""
        self.send(notification(event))

    def close(self) -> None:
        """Hang up when everything is sent."""
        self._flush()
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Hang up at once."""
        self._unsent.clear()
        if self._transport is not None:
            self._transport.abort()

    def pause_writing(self) -> None:
        """The client does not read: neither does this end."""
        self._is_slow = True
        self._balance()

    def resume_writing(self) -> None:
        """It reads again."""
        self._is_slow = False
        self._balance()

    def _balance(self) -> None:
        if self._transport is None:
            return
        if self._is_slow or self._under_way >= _UNDER_WAY_MAX:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()
