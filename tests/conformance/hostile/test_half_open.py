"""Connections that are begun and not gone on with: `bin/bench half_open` has 20,000 of them."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from certificates import authority, identity
from conformance.apache.broker import free_port
from conformance.hostile.conftest import resident_bytes
from conformance.hostile.requests import TOPIC, request_frame
from conformance.our_broker import OurBroker
from moldau.protocol.codec import encode
from moldau.protocol.messages.api_versions import ApiVersionsRequest
from moldau.protocol.messages.metadata import MetadataRequest
from moldau.protocol.messages.sasl_handshake import SaslHandshakeRequest
from moldau.testing.wire import WireClient
from unit.testing.requests import batch, metadata, produce

EACH = 150
OF_ONE_MAX_BYTES = 40_000
DEADLINE_MS, PATIENCE_S = 6000, 60
LISTENERS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT")
MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
HALF_A_HELLO = bytes.fromhex("1603010200010001fc0303") + bytes(100)
FRAME = request_frame(17, 1, encode(SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1))
SAID = [
    ("PLAINTEXT", b""),
    ("SSL", HALF_A_HELLO),
    ("SASL_PLAINTEXT", b""),
    ("SASL_PLAINTEXT", len(FRAME).to_bytes(4, "big") + FRAME),
]


@pytest.fixture(scope="module")
def ports() -> dict[str, int]:
    found: dict[str, int] = {}
    while len(set(found.values())) < len(LISTENERS):
        found = {name: free_port() for name in LISTENERS}
    return found


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, ports: dict[str, int]) -> Iterator[OurBroker]:
    folder = tmp_path_factory.mktemp("half-open")
    own = 'username="admin" password="x"'
    settings = {
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        "ssl.keystore.location": identity(authority(), "broker").write(folder / "broker.pem"),
        "sasl.enabled.mechanisms": "SCRAM-SHA-256",
        "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": f"{MODULE} required {own};",
        "moldau.handshake.timeout.ms": str(DEADLINE_MS),
    }
    running = OurBroker(folder, settings, ports["PLAINTEXT"])
    running.start()
    try:
        with WireClient(running.bootstrap) as client:
            client.ask(metadata(TOPIC))
            client.ask(produce(TOPIC, batch(b"first")))
        yield running
    finally:
        running.kill()


def open_files(broker: OurBroker) -> int:
    return len(os.listdir(f"/proc/{broker.process_id}/fd"))


def until_open(broker: OurBroker, least: int, most: int) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not least <= open_files(broker) <= most:
        assert time.monotonic() < deadline_s, f"{open_files(broker)} files are open"
        time.sleep(0.01)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="looks at the process in /proc")
def test_they_take_little_and_go_and_others_are_served(
    broker: OurBroker, ports: dict[str, int]
) -> None:
    before_files, before_bytes = open_files(broker), resident_bytes(broker.process_id)
    with WireClient(broker.bootstrap) as other:
        begun = []
        try:
            for listener, said in SAID * EACH:
                begun.append(WireClient(f"127.0.0.1:{ports[listener]}"))
                begun[-1].send_bytes(said)
            until_open(broker, before_files + len(begun), 10**6)
            grown = resident_bytes(broker.process_id) - before_bytes
            assert grown < OF_ONE_MAX_BYTES * len(begun)
            assert other.ask(ApiVersionsRequest(), 0).error_code == 0
            assert other.ask(MetadataRequest(topics=[]), 9).brokers
            # All but the silent ones without TLS and login have a deadline.
            until_open(broker, 0, before_files + EACH + 5)
        finally:
            for client in begun:
                client.socket.close()
        until_open(broker, 0, before_files + 5)
