"""What TLS handshakes cost a broker, and how long they keep others waiting.

bin/bench handshakes [seconds [clients]]

Processes connect, shake hands and hang up as fast as they can: with TLS 1.3, with TLS 1.2, with
sessions of TLS 1.2 that are resumed, and without TLS, which is what a connection costs by itself.
Then the same again, while a client without TLS asks for versions again and again: its longest
round trips show what the loop was busy with. What it asks costs the broker as well, so processor
time is counted without it. Clients take as much of the processor as the broker: with two cores
expect half of what it can do. The time of OpenSSL alone is measured beside it.
"""

import multiprocessing
import socket
import ssl
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from bench.brokers import Contestant
from bench.measure import print_table

from certificates import Identity, authority, identity
from conformance.apache.broker import free_port
from conformance.our_broker import OurBroker
from moldau.protocol.messages.api_versions import ApiVersionsRequest
from moldau.security.tls import TlsSettings, server_context
from moldau.testing.wire import WireClient

SECONDS, CLIENTS = 5, 2
TLS_1_3, TLS_1_2, RESUMED, PLAIN = "TLS 1.3", "TLS 1.2", "TLS 1.2, resumed", "none"
_ALONE = 200


def client_context(trust: str, kind: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=trust)
    if kind in (TLS_1_2, RESUMED):
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    return context


def connect(kind: str, port: int, trust: str, until_s: float) -> int:
    """How often that worked."""
    context = client_context(trust, kind)
    count, session = 0, None
    while time.monotonic() < until_s:
        plain = socket.create_connection(("127.0.0.1", port))
        if kind == PLAIN:
            plain.close()
        else:
            with (
                plain,
                context.wrap_socket(plain, server_hostname="127.0.0.1", session=session) as secured,
            ):
                assert session is None or secured.session_reused
                if kind == RESUMED:
                    session = secured.session
        count += 1
    return count


@contextmanager
def calling(
    kind: str, port: int, trust: str, seconds: int, clients: int
) -> Iterator[Callable[[], int]]:
    """Clients that connect for some seconds; the number of connections when they are done."""
    wanted = [(kind, port, trust, time.monotonic() + seconds)] * clients
    with multiprocessing.Pool(clients) as pool:
        counts = pool.starmap_async(connect, wanted)
        yield lambda: sum(counts.get(60))


def round_trips_ms(port: int, until_s: float) -> list[float]:
    """Of small requests, one after the other."""
    found = []
    with WireClient(f"127.0.0.1:{port}") as wire:
        while time.monotonic() < until_s:
            began_s = time.monotonic()
            wire.ask(ApiVersionsRequest(), version=0)
            found.append((time.monotonic() - began_s) * 1000)
    return sorted(found)


def p99(trips: list[float]) -> str:
    return f"{trips[len(trips) * 99 // 100]:.2f}"


def alone_ms(own: Identity, trust: str, kind: str) -> float:
    """What the library takes for the server's side, without sockets and without a loop."""
    store = TlsSettings(keystore_key=own.key_pem(), keystore_certificate_chain=own.certificate_pem)
    server, client = server_context(store), client_context(trust, kind)
    used_ns = 0
    for _ in range(_ALONE):
        up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
        theirs = client.wrap_bio(down, up, server_hostname="localhost")
        with suppress(ssl.SSLWantReadError):
            theirs.do_handshake()
        began_ns = time.process_time_ns()
        ours = server.wrap_bio(up, down, server_side=True)
        used_ns += time.process_time_ns() - began_ns
        for end in (ours, theirs, ours):
            began_ns = time.process_time_ns()
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()
            used_ns += time.process_time_ns() - began_ns if end is ours else 0
    return used_ns / _ALONE / 1e6


def main(seconds: int = SECONDS, clients: int = CLIENTS) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder, ca = Path(name), authority()
        trust, own = folder / "ca.pem", identity(ca, "broker")
        trust.write_text(ca.certificate_pem)
        plain, secure = free_port(), free_port()
        settings = {
            "listeners": f"PLAINTEXT://127.0.0.1:{plain},SSL://127.0.0.1:{secure}",
            "ssl.keystore.location": own.write(folder / "broker.pem"),
        }
        broker = OurBroker(folder / "broker", settings, plain)
        broker.start()
        try:
            process = Contestant("Moldau", plain, broker.process_id, 0)
            quiet = round_trips_ms(plain, time.monotonic() + 1)
            for kind in (TLS_1_3, TLS_1_2, RESUMED, PLAIN):
                port = plain if kind == PLAIN else secure
                callers = partial(calling, kind, port, str(trust), seconds, clients)
                cpu_s = process.cpu_s()
                with callers() as counted:
                    count = counted()
                used_ms = (process.cpu_s() - cpu_s) / count * 1000
                with callers() as counted:
                    busy = round_trips_ms(plain, time.monotonic() + seconds)
                    counted()
                # A session that is resumed needs another client than the library's alone.
                is_full = kind in (TLS_1_3, TLS_1_2)
                library = f"{alone_ms(own, str(trust), kind):.2f}" if is_full else ""
                rows.append((kind, f"{count / seconds:.0f}", f"{used_ms:.2f}", library, p99(busy)))
        finally:
            broker.kill()
    title = f"Connections, CPU ms each; round trips of others, p99 {p99(quiet)} ms alone"
    print_table(title, ("TLS", "per s", "CPU ms", "OpenSSL alone", "others' p99, ms"), rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
