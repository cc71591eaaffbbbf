"""What it costs to decrypt produced data, in process: no socket, no broker.

bin/bench tls_in [rounds]

The records are as long as librdkafka's of a Produce with messages of 1 KiB: half of its batches
goes message by message, each with a record of its own for its head. How many bytes come with one
event depends on who is faster, client or broker.
"""

import asyncio
import ssl
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.measure import print_table

from certificates import authority, identity
from moldau.net.handshakes import Handshakes
from moldau.net.sockets import Reader
from moldau.runtime import native

ROUNDS, BATCHES = 9, 20
BATCH = (10, 1024) * 247 + (16_384,) * 39 + (14_800, 14_600, 10_300, 2_200)
KILOBYTES = (4, 16, 64)
_tls = native.kernel("moldau.net._tls_transport", "moldau.net.tls_transport")


class Line:
    """Both neighbours of a transport: what it sends is kept, what it decrypts is counted."""

    def __init__(self) -> None:
        self.sent = bytearray()
        self.received = 0
        self._buffer = memoryview(bytearray(2**20))

    def set_write_buffer_limits(self, high: int) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def connection_made(self, transport: Reader) -> None: ...

    def is_closing(self) -> bool:
        return False

    def write(self, data: bytes) -> None:
        self.sent += data

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        return self._buffer[self.received % len(self._buffer) :]

    def buffer_updated(self, nbytes: int) -> None:
        self.received += nbytes


class Client:
    """The other end: an engine of Python's."""

    def __init__(self, transport: Any, line: Line, context: ssl.SSLContext) -> None:
        self._transport, self._line = transport, line
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._engine = context.wrap_bio(self._incoming, self._outgoing, server_hostname="localhost")

    def shake_hands(self) -> None:
        is_done = False
        while not is_done:
            try:
                self._engine.do_handshake()
                is_done = True
            except ssl.SSLWantReadError:
                pass
            self.send(self._outgoing.read(), 16_384)
            self._incoming.write(self._line.sent)
            self._line.sent.clear()

    def encrypted(self) -> bytes:
        data = bytearray()
        for size in BATCH * BATCHES:
            self._engine.write(bytes(size))
            data += self._outgoing.read()
        return bytes(data)

    def send(self, data: bytes, at_once: int) -> None:
        """As a socket does: no more with one event than has come and there is room for."""
        view, position = memoryview(data), 0
        while position < len(data):
            room = self._transport.get_buffer(-1)
            piece = view[position : position + min(at_once, len(room))]
            room[: len(piece)] = piece
            self._transport.buffer_updated(len(piece))
            position += len(piece)


async def seconds(server: ssl.SSLContext, context: ssl.SSLContext, at_once: int) -> float:
    """Processor time for all the batches."""
    line = Line()
    transport = _tls.TlsTransport(line, Handshakes(lambda: server))
    transport.connection_made(line)
    client = Client(transport, line, context)
    client.shake_hands()
    data = client.encrypted()
    began_s = time.process_time()
    client.send(data, at_once)
    used_s = time.process_time() - began_s
    assert line.received == sum(BATCH) * BATCHES
    return used_s


def main(rounds: int = ROUNDS) -> None:
    """Measure and print the table."""
    ca = authority()
    client = ssl.create_default_context(cadata=ca.certificate_pem)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.num_tickets = 0
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "broker.pem"
        identity(ca, "broker").write(path)
        server.load_cert_chain(path)
    rows = []
    for kilobytes in KILOBYTES:
        best = min(asyncio.run(seconds(server, client, kilobytes * 1024)) for _ in range(rounds))
        size, count = sum(BATCH) * BATCHES, len(BATCH) * BATCHES
        per_record = f"{best / count * 1e9:,.0f}"
        rows.append((f"{kilobytes} KB", f"{best / size * 1e9:.2f}", per_record))
    print_table("Decryption", ("with one event", "CPU s/GB", "ns for a record"), rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
