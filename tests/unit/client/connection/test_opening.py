"""Connecting: which addresses are tried, and how versions are agreed on."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from certificates import Identity, authority, identity
from moldau.client.connection.addresses import Address
from moldau.client.connection.opening import Opener, open_broker
from moldau.client.connection.refusal import SecurityRefused
from moldau.client.metrics import ConnectionTraffic
from moldau.client.settings import ClientSettings, read_settings
from moldau.errors import NetworkException, UnsupportedVersion
from moldau.protocol.codec import encode
from moldau.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from moldau.protocol.messages.metadata import MetadataRequest
from moldau.runtime.clock import SystemClock
from moldau.testing.broker import EmbeddedBroker
from unit.client.scripted import Answer, hanging_up, scripted_broker

SETTINGS = ClientSettings(bootstrap_servers="unused:1", request_timeout_ms=2000)
METADATA = 3
UNSUPPORTED_VERSION = 35


def answered(frame: bytes, *api_keys: ApiVersion, error_code: int = 0) -> bytes:
    answer = ApiVersionsResponse(error_code=error_code, api_keys=list(api_keys))
    return frame[4:8] + encode(answer, 0)


def version_of(frame: bytes) -> int:
    return int.from_bytes(frame[2:4], "big")


def from_24(frame: bytes) -> bytes:
    """Refuses a version that it does not know, and says which it does."""
    known = ApiVersion(api_key=METADATA, min_version=0, max_version=8)
    return answered(frame, known, error_code=UNSUPPORTED_VERSION if version_of(frame) else 0)


def from_10(frame: bytes) -> bytes:
    """Refuses a version that it does not know, and says nothing else."""
    if version_of(frame):
        return answered(frame, error_code=UNSUPPORTED_VERSION)
    return answered(frame, ApiVersion(api_key=METADATA, min_version=0, max_version=8))


@pytest.mark.parametrize(("broker", "newest"), [(from_24, 8), (from_10, 8), (lambda _: None, 0)])
async def test_an_older_broker_is_understood(broker: Answer, newest: int) -> None:
    async with scripted_broker(broker) as address:
        opened = await open_broker(address, SETTINGS)
        assert opened.versions.newest(METADATA) == newest
        assert opened.connection.is_open
        opened.connection.close()


async def test_our_broker_speaks_the_newest(kafka: EmbeddedBroker) -> None:
    host, _, port = kafka.bootstrap_servers.partition(":")
    opened = await open_broker(Address(host, int(port)), SETTINGS)
    assert opened.versions.newest(METADATA) == 12
    opened.connection.close()


async def test_every_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scripted_broker(from_24) as address:
        resolve_in(monkeypatch, ["127.0.0.2", "127.0.0.1"])
        opened = await open_broker(Address("several.example", address.port), SETTINGS)
        assert opened.connection.is_open
        opened.connection.close()


async def test_the_error_names_every_address_that_was_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolve_in(monkeypatch, ["127.0.0.2", "127.0.0.3"])
    with pytest.raises(NetworkException) as raised:
        await open_broker(Address("several.example", 1), SETTINGS)
    for part in ("several.example:1", "127.0.0.2:1", "127.0.0.3:1"):
        assert part in str(raised.value)


async def test_addresses_of_the_newer_kind_are_tried_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scripted_broker(from_24, host="::1") as address:
        assert str(address) == f"[::1]:{address.port}"
        for name in (address.host, "several.example"):
            resolve_in(monkeypatch, ["127.0.0.2", "::1"])
            opened = await open_broker(Address(name, address.port), SETTINGS)
            assert opened.connection.is_open
            opened.connection.close()


async def test_a_name_that_nobody_knows_is_an_error_that_says_it() -> None:
    with pytest.raises(NetworkException, match=r"no-such-host\.invalid:1"):
        await open_broker(Address("no-such-host.invalid", 1), SETTINGS)


async def test_a_name_server_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answered.wait())
    impatient = ClientSettings(bootstrap_servers="unused:1", request_timeout_ms=20)
    with pytest.raises(NetworkException, match=r"some\.example:1: the name was not resolved in"):
        await open_broker(Address("some.example", 1), impatient)
    answered.set()


def resolve_in(monkeypatch: pytest.MonkeyPatch, hosts: list[str]) -> None:
    """Let the one name of these tests stand for several hosts of this machine."""
    resolve = socket.getaddrinfo

    def getaddrinfo(host: str, port: int, **options: int) -> object:
        names = hosts if host == "several.example" else [host]
        return [found for name in names for found in resolve(name, port, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


async def test_buffers_are_as_large_as_settings_say() -> None:
    settings = ClientSettings(
        bootstrap_servers="unused:1", send_buffer_bytes=40_000, receive_buffer_bytes=30_000
    )
    async with scripted_broker(from_24) as address:
        opened = (await open_broker(address, settings)).connection
        with opened.take_socket() as taken:
            # Linux doubles what it is told, for its own use.
            assert taken.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) in (40_000, 80_000)
            assert taken.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) in (30_000, 60_000)


async def test_a_broker_behind_tls_is_opened_if_it_is_trusted(tmp_path: Path) -> None:
    ca = authority()
    context = identity(ca, "broker").server_context(tmp_path / "broker.pem")
    async with scripted_broker(from_24, context) as address:
        broker = await opener(ca).open(address, ConnectionTraffic())
        assert broker.versions.newest(METADATA) == 8
        assert not broker.session.is_due(now_ms=2**62)
        broker.connection.close()
        with pytest.raises(NetworkException, match="its certificate is not trusted"):
            await opener(authority()).open(address, ConnectionTraffic())
    context = identity(ca, "broker", "127.0.0.3").server_context(tmp_path / "broker.pem")
    async with scripted_broker(from_24, context) as address:
        with pytest.raises(NetworkException, match="certificate is not trusted: IP address"):
            await opener(ca).open(address, ConnectionTraffic())


@pytest.mark.parametrize("protocol", ["SSL", "SASL_SSL"])
async def test_a_port_without_tls_is_named_by_a_client_with_it(protocol: str) -> None:
    login = {"sasl.mechanism": "PLAIN", "sasl.username": "anna", "sasl.password": "sesam"}
    options = {"bootstrap.servers": "unused:1", "security.protocol": protocol} | login
    protected = Opener(read_settings(ClientSettings, options, {}), SystemClock())
    async with hanging_up() as address:
        with pytest.raises(NetworkException) as raised:
            await protected.open(address, ConnectionTraffic())
    assert str(raised.value) == (
        f"{address}: closed the connection during the TLS handshake; "
        "is it a PLAINTEXT listener? check security.protocol"
    )
    assert raised.value.is_retriable, "a broker that is just starting does that too"


async def test_a_port_that_answers_tls_in_plain_text_is_named() -> None:
    async with hanging_up(b"HTTP/1.1 400 Bad Request\r\n\r\n") as address:
        with pytest.raises(SecurityRefused, match=r"wrong version number; is it a PLAINTEXT"):
            await opener(authority()).open(address, ConnectionTraffic())


async def test_a_port_with_tls_is_named_by_a_client_without_it() -> None:
    alert = b"\x15\x03\x03\x00\x02\x02\x50"  # as brokers in Java say it
    async with hanging_up(alert) as address:
        with pytest.raises(SecurityRefused) as raised:
            await open_broker(address, SETTINGS)
    assert str(raised.value) == (
        f"{address} answers in TLS; is it an SSL listener? check security.protocol"
    )


async def test_a_port_that_hangs_up_on_everything_is_named() -> None:
    async with hanging_up() as address:
        opened = await open_broker(address, SETTINGS)  # it might be older than the question
        with pytest.raises(NetworkException, match=r"without an answer.*check that security\.prot"):
            await opened.connection.exchange(MetadataRequest(topics=[]), 0, timeout_s=10)


async def test_a_port_of_another_protocol_is_named_at_once() -> None:
    async with hanging_up(b"HTTP/1.1 400 Bad Request\r\n\r\n", is_kept=True) as address:
        opened = await open_broker(address, SETTINGS)
        with pytest.raises(NetworkException, match="does not speak Kafka's protocol: a frame of"):
            await opened.connection.exchange(MetadataRequest(topics=[]), 0, timeout_s=10)


async def test_a_client_whose_certificate_is_missing_is_told_so(tmp_path: Path) -> None:
    ca = authority()
    context = identity(ca, "broker").server_context(tmp_path / "broker.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    with refusing(context) as address, pytest.raises(SecurityRefused, match="certificate required"):
        await opener(ca).open(address, ConnectionTraffic())


@contextmanager
def refusing(tls: ssl.SSLContext) -> Iterator[Address]:
    """A port where the handshake fails; servers of asyncio would hang up without saying why."""

    def serve() -> None:
        connected, _ = listening.accept()
        heard = tls.wrap_socket(connected, server_side=True, do_handshake_on_connect=False)
        with pytest.raises(ssl.SSLError):
            heard.do_handshake()
        with socket.socket(fileno=heard.detach()) as plain:
            plain.shutdown(socket.SHUT_WR)
            with suppress(ConnectionError):
                while plain.recv(100):
                    pass  # closed with something unread, it would take back what was said

    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = threading.Thread(target=serve)
        serving.start()
        yield Address(*listening.getsockname())
        serving.join()


def opener(trusted: Identity) -> Opener:
    options = {
        "bootstrap.servers": "unused:1",
        "security.protocol": "SSL",
        "ssl.truststore.certificates": trusted.certificate_pem,
    }
    return Opener(read_settings(ClientSettings, options, {}), SystemClock())


async def test_who_cannot_say_who_it_is_is_hung_up_on() -> None:
    options = {
        "bootstrap.servers": "unused:1",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "anna",
        "sasl.password": "sesam",
    }
    without_sasl = Opener(read_settings(ClientSettings, options, {}), SystemClock())
    async with scripted_broker(from_24) as address:
        with pytest.raises(UnsupportedVersion, match="SaslHandshake"):
            await without_sasl.open(address, ConnectionTraffic())
    async with scripted_broker(lambda _: None) as address:
        with pytest.raises(NetworkException, match=r"is security\.protocol right\?"):
            await without_sasl.open(address, ConnectionTraffic())
