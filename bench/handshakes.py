"""What TLS handshakes cost a broker, and how long they keep others waiting.

bin/bench handshakes [seconds [clients]]

Processes connect, shake hands and hang up as fast as they can; meanwhile a client without TLS asks
for versions again and again, and the longest of its round trips shows what the loop was busy with.
Clients take as much of the processor as the broker: with two cores expect half of what it can do.
"""

import multiprocessing
import socket
import ssl
import sys
import tempfile
import time
from pathlib import Path

from bench.brokers import Contestant

from certificates import authority, identity
from conformance.apache.broker import free_port
from conformance.our_broker import OurBroker
from moldau.protocol.messages.api_versions import ApiVersionsRequest
from moldau.testing.wire import WireClient

SECONDS, CLIENTS = 5, 2


def connect(port: int, trust: str, until_s: float) -> int:
    """How often that worked."""
    context = ssl.create_default_context(cafile=trust)
    count = 0
    while time.monotonic() < until_s:
        plain = socket.create_connection(("127.0.0.1", port))
        with plain, context.wrap_socket(plain, server_hostname="127.0.0.1"):
            count += 1
    return count


def round_trips_ms(port: int, until_s: float) -> list[float]:
    """Of small requests, one after the other."""
    found = []
    with WireClient(f"127.0.0.1:{port}") as wire:
        while time.monotonic() < until_s:
            began_s = time.monotonic()
            wire.ask(ApiVersionsRequest(), version=0)
            found.append((time.monotonic() - began_s) * 1000)
    return sorted(found)


def main(seconds: int = SECONDS, clients: int = CLIENTS) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, ca = Path(name), authority()
        trust = folder / "ca.pem"
        trust.write_text(ca.certificate_pem)
        plain, secure = free_port(), free_port()
        settings = {
            "listeners": f"PLAINTEXT://127.0.0.1:{plain},SSL://127.0.0.1:{secure}",
            "ssl.keystore.location": identity(ca, "broker").write(folder / "broker.pem"),
        }
        broker = OurBroker(folder / "broker", settings, plain)
        broker.start()
        try:
            process = Contestant("Moldau", plain, broker.process_id, 0)
            quiet = round_trips_ms(plain, time.monotonic() + 1)
            cpu_s, until_s = process.cpu_s(), time.monotonic() + seconds
            with multiprocessing.Pool(clients) as pool:
                counts = pool.starmap_async(connect, [(secure, str(trust), until_s)] * clients)
                busy = round_trips_ms(plain, until_s)
                count = sum(counts.get(60))
            used_s = process.cpu_s() - cpu_s
        finally:
            broker.kill()
    print(f"{count / seconds:.0f} handshakes a second, {used_s / count * 1000:.2f} ms of CPU each")
    for kind, trips in (("alone", quiet), ("meanwhile", busy)):
        print(
            f"round trips {kind}: p99 {trips[len(trips) * 99 // 100]:.2f} ms, max {trips[-1]:.2f}"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
