"""What connections cost that are begun and not gone on with, and who is still served meanwhile.

bin/bench half_open [connections]

On a listener of each kind as many connections are opened as the limit on open files gives, or as
many as are asked for: silent ones, half a ClientHello, and a chosen mechanism without a login.
Each kind in turn, with the broker's memory, and round trips of a client that was there before;
then all of them are waited for until the deadline of handshakes has closed them.
"""

import resource
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.brokers import Contestant
from bench.measure import print_table

from certificates import authority, identity
from conformance.apache.broker import free_port
from conformance.our_broker import OurBroker
from moldau.protocol.codec import encode
from moldau.protocol.headers import RequestHeader, encode_request_header
from moldau.protocol.messages.api_versions import ApiVersionsRequest
from moldau.protocol.messages.sasl_handshake import SaslHandshakeRequest
from moldau.testing.wire import WireClient

RESERVED_FILES = 200
TRIPS = 200
DEADLINE_MS = 30_000
CLOSED_S = 120.0
MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
HALF_HELLO = bytes.fromhex("1603010200010001fc0303") + bytes(100)


def sasl_handshake() -> bytes:
    header = encode_request_header(RequestHeader(17, 1, 1, "half"))
    frame = header + encode(SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1)
    return len(frame).to_bytes(4, "big") + frame


def kinds() -> dict[str, tuple[str, bytes]]:
    """What is said, by a name for it: to which listener, and the bytes."""
    return {
        "nothing, plain": ("PLAINTEXT", b""),
        "nothing, TLS": ("SSL", b""),
        "half a ClientHello": ("SSL", HALF_HELLO),
        "nothing, SASL": ("SASL_PLAINTEXT", b""),
        "a mechanism, no login": ("SASL_PLAINTEXT", sasl_handshake()),
    }


def settings(folder: Path, ports: dict[str, int]) -> dict[str, str]:
    ca = authority()
    own = 'username="admin" password="x"'
    return {
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        "ssl.keystore.location": identity(ca, "broker").write(folder / "broker.pem"),
        "sasl.enabled.mechanisms": "SCRAM-SHA-256",
        "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": f"{MODULE} required {own};",
        "moldau.handshake.timeout.ms": str(DEADLINE_MS),
    }


def trips_ms(wire: WireClient) -> list[float]:
    found = []
    for _ in range(TRIPS):
        began_s = time.monotonic()
        wire.ask(ApiVersionsRequest(), version=0)
        found.append((time.monotonic() - began_s) * 1000)
    return sorted(found)


@contextmanager
def opened(port: int, said: bytes, count: int) -> Iterator[list[socket.socket]]:
    """So many connections, each of which has said so much; from several addresses of this host."""
    found: list[socket.socket] = []
    try:
        for number in range(count):
            source = (f"127.0.0.{2 + number % 4}", 0)
            found.append(socket.create_connection(("127.0.0.1", port), 30, source))
            found[-1].sendall(said)
        yield found
    finally:
        for one in found:
            one.close()


def until(is_reached: Callable[[], bool]) -> float:
    """Seconds until something is so."""
    began_s = time.monotonic()
    while not is_reached():
        assert time.monotonic() - began_s < CLOSED_S, "it did not happen"
        time.sleep(0.05)
    return time.monotonic() - began_s


def open_files(process_id: int) -> int:
    return len(list(Path(f"/proc/{process_id}/fd").iterdir()))


def main(wanted: int = sys.maxsize) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # the broker inherits it
    count = min(wanted, most - RESERVED_FILES)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        ports: dict[str, int] = {}
        while len(set(ports.values())) < 3:
            ports = {each: free_port() for each in ("PLAINTEXT", "SSL", "SASL_PLAINTEXT")}
        folder = Path(name)
        broker = OurBroker(folder / "broker", settings(folder, ports), ports["PLAINTEXT"])
        broker.start()
        process = Contestant("Moldau", broker.port, broker.process_id, 0)
        try:
            with WireClient(broker.bootstrap) as wire:
                alone = trips_ms(wire)
                for kind, (listener, said) in kinds().items():
                    files, before_mb = open_files(process.pid), process.memory_mb()
                    with opened(ports[listener], said, count):
                        until(lambda files=files: open_files(process.pid) >= files + count - 5)
                        grown_kb = (process.memory_mb() - before_mb) * 1024 / count
                        trips = trips_ms(wire)
                        if listener != "PLAINTEXT":
                            until(lambda files=files: open_files(process.pid) <= files + 5)
                    until(lambda files=files: open_files(process.pid) <= files + 5)
                    row = (f"{grown_kb:.1f}", f"{trips[-2]:.1f}", f"{process.memory_mb():.0f}")
                    rows.append((kind, *row))
        finally:
            broker.kill()
    title = f"{count} connections; round trips of another, p99 {alone[-2]:.1f} ms alone"
    print_table(title, ("said", "KB each", "p99, ms", "MB afterwards"), rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
