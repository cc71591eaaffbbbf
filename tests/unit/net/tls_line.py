"""A TLS connection in a test: a transport with its reader, and the other end by hand."""

import asyncio
import hmac
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from certificates import Identity, authority, identity
from moldau.net import sockets, tls_transport
from moldau.net.handshakes import Handshakes
from moldau.runtime import native
from moldau.security.tls import TlsSettings, client_context, server_context
from unit.waiting import settled, until

COMPILED_SOCKETS = native.kernel("moldau.net._sockets", "moldau.net.sockets")
COMPILED_TLS = native.kernel("moldau.net._tls_transport", "moldau.net.tls_transport")


@cache
def trusted() -> Identity:
    return authority()


@cache
def server_identity() -> Identity:
    return identity(trusted(), "broker")


def server_tls(client_auth: str = "none", **settings: str) -> ssl.SSLContext:
    own = server_identity()
    given = TlsSettings(
        keystore_key=own.key_pem(),
        keystore_certificate_chain=own.certificate_pem,
        truststore_certificates=trusted().certificate_pem,
        **settings,
    )
    return server_context(given, client_auth=client_auth)


def client_tls(own: Identity | None = None, **settings: str) -> ssl.SSLContext:
    if own is not None:
        settings |= {
            "keystore_key": own.key_pem(),
            "keystore_certificate_chain": own.certificate_pem,
        }
    return client_context(
        TlsSettings(truststore_certificates=trusted().certificate_pem, **settings)
    )


class CountingContext:
    """The server's context; its engines count how often they are asked for a record."""

    def __init__(self) -> None:
        self.context = server_tls()
        self.reads = 0

    def wrap_bio(
        self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, *, server_side: bool
    ) -> Any:
        engine = self.context.wrap_bio(incoming, outgoing, server_side=server_side)

        def read(size: int, buffer: bytearray) -> int:
            self.reads += 1
            return int(engine.read(size, buffer))

        return SimpleNamespace(
            read=read,
            pending=engine.pending,
            do_handshake=engine.do_handshake,
            write=engine.write,
            unwrap=engine.unwrap,
        )


@dataclass(eq=False)
class Hearing:
    """A reader that keeps what it hears, in a buffer of the size it wants."""

    heard: bytearray = field(default_factory=bytearray)
    told: list[str] = field(default_factory=list)
    buffer: bytearray = field(default_factory=lambda: bytearray(1_000))
    transport: Any = None
    listens: Callable[[], None] = lambda: None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.told.append("lost" if exc is None else f"lost: {type(exc).__name__}")

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(self.buffer)

    def buffer_updated(self, nbytes: int) -> None:
        self.heard += self.buffer[:nbytes]
        self.listens()

    def pause_writing(self) -> None:
        self.told.append("full")

    def resume_writing(self) -> None:
        self.told.append("room")

    def hung_up(self) -> None:
        self.told.append("hung up")


@dataclass
class TlsLine:
    """Both ends: ours with its transport, the peer's with an engine driven by the test."""

    reader: Hearing
    transport: Any
    peer: socket.socket
    incoming: ssl.MemoryBIO
    outgoing: ssl.MemoryBIO
    engine: ssl.SSLObject
    handshakes: Handshakes

    async def shake_hands(self) -> None:
        while True:
            with suppress(ssl.SSLWantReadError):
                self.engine.do_handshake()
                await self.send()
                await settled()
                return
            await self.send()
            await self.receive_some()

    async def send(self) -> None:
        if self.outgoing.pending:
            await asyncio.get_running_loop().sock_sendall(self.peer, self.outgoing.read())

    async def say(self, data: bytes) -> None:
        self.engine.write(data)
        await self.send()

    async def receive_some(self) -> bool:
        """More bytes for the peer's engine; False at the end."""
        async with asyncio.timeout(10):
            data = await asyncio.get_running_loop().sock_recv(self.peer, 262_144)
        if not data:
            self.incoming.write_eof()
        self.incoming.write(data)
        return bool(data)

    async def hear(self, size: int) -> bytes:
        """So many bytes from our side, decrypted; fewer if it ends before."""
        heard = bytearray()
        while len(heard) < size:
            try:
                data = self.engine.read(size - len(heard))
            except ssl.SSLWantReadError:
                await self.receive_some()
                continue
            if not data:
                break
            heard += data
        return bytes(heard)


Below = tuple[ModuleType | None, ModuleType]
"""What the transport below is of, None for asyncio's; and what our own is of."""

WAYS = {
    "source": (sockets, tls_transport),
    "compiled": (COMPILED_SOCKETS, COMPILED_TLS),
    "on asyncio": (None, tls_transport),
}


@asynccontextmanager
async def tls_line(
    way: Below,
    *,
    server: ssl.SSLContext | None = None,
    client: ssl.SSLContext | None = None,
    delay_s: float = 0.0,
    failures: list[str] | None = None,
) -> AsyncIterator[TlsLine]:
    below, module = way
    context = server or server_tls()
    noted = [] if failures is None else failures
    handshakes = Handshakes(
        lambda: context, failure_delay_s=delay_s, count_failure=lambda: noted.append("failed")
    )
    listening = socket.create_server(("127.0.0.1", 0))
    peer = socket.create_connection(listening.getsockname())
    connected, _ = listening.accept()
    for end in (peer, connected):
        end.setblocking(False)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    reader = Hearing()
    poller = None
    if below is None:
        kind = type("OnTransport", (module.TlsTransport, asyncio.BufferedProtocol), {})
        transport = kind(reader, handshakes)
        loop = asyncio.get_running_loop()
        await loop.connect_accepted_socket(lambda: transport, connected)
    else:
        poller = below.Poller()
        transport = module.TlsTransport(reader, handshakes)
        below.SocketTransport(poller, connected, transport)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    engine = (client or client_tls()).wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        yield TlsLine(reader, transport, peer, incoming, outgoing, engine, handshakes)
    finally:
        transport.abort()
        await until(lambda: any(one.startswith("lost") for one in reader.told))
        if poller is not None:
            poller.close()
        peer.close()
        listening.close()


def key_update(key_log: str) -> bytes:
    """The first record of a client after its handshake: new keys, and the same is asked for.

    Python has no call that makes one. RFC 8446, 4.6.3 and 7.3; `key_log` is what
    `keylog_filename` wrote of TLS_AES_256_GCM_SHA384.
    """
    message = b"\x18\0\0\1\1" + b"\x16"  # and the kind of record that it is
    return _first_record(_client_secret(key_log), message)


def with_new_keys(key_log: str, data: bytes) -> bytes:
    """The first record of a client after it has changed its keys."""
    secret = _expanded(_client_secret(key_log), b"traffic upd", 48)
    return _first_record(secret, data + b"\x17")


def _client_secret(key_log: str) -> bytes:
    line = next(line for line in key_log.splitlines() if line.startswith("CLIENT_TRAFFIC_SECRET_0"))
    return bytes.fromhex(line.split()[2])


def _first_record(secret: bytes, content: bytes) -> bytes:
    key, nonce = _expanded(secret, b"key", 32), _expanded(secret, b"iv", 12)
    head = b"\x17\3\3" + (len(content) + 16).to_bytes(2, "big")
    return head + AESGCM(key).encrypt(nonce, content, head)


def _expanded(secret: bytes, label: bytes, size: int) -> bytes:
    label = b"tls13 " + label
    info = size.to_bytes(2, "big") + bytes((len(label),)) + label + b"\0" + b"\1"
    return hmac.digest(secret, info, "sha384")[:size]
