"""Clients that start before their brokers wait for them; what no waiting helps with fails."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from certificates import authority, identity
from moldau.client.admin.admin import Admin
from moldau.client.connection.cluster import Cluster
from moldau.client.connection.refusal import SecurityRefused
from moldau.client.consumer.consumer import Consumer
from moldau.client.producer.producer import Producer
from moldau.client.settings import ClientSettings
from moldau.errors import (
    AuthenticationFailed,
    InvalidConfig,
    NetworkException,
    SaslAuthenticationFailed,
)
from moldau.protocol.messages.metadata import MetadataResponse
from moldau.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
from moldau.protocol.messages.sasl_handshake import SaslHandshakeResponse
from moldau.testing.broker import EmbeddedBroker
from unit.client.admin.answering import Answering
from unit.client.scripted import scripted_broker

NOBODY = "127.0.0.1:1"
CLIENTS: tuple[Callable[..., Admin | Consumer[bytes, bytes] | Producer[bytes, bytes]], ...] = (
    Admin,
    Consumer[bytes, bytes],
    Producer[bytes, bytes],
)


class Waiting(logging.Handler):
    """Notes what is logged of a cluster, and calls somebody with the first warning."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []
        self.call: Callable[[], object] = lambda: None

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
        if len(self.lines) == 1:
            self.call()


@pytest.fixture
def waiting() -> Iterator[Waiting]:
    log, handler = logging.getLogger("moldau.client"), Waiting()
    log.addHandler(handler)
    yield handler
    log.removeHandler(handler)


@pytest.mark.parametrize("make", CLIENTS)
async def test_a_broker_that_comes_later_is_waited_for(
    kafka: EmbeddedBroker,
    waiting: Waiting,
    make: Callable[..., Admin],
) -> None:
    kafka.stop()
    is_waiting = asyncio.Event()
    waiting.call = is_waiting.set
    client = make(bootstrap_servers=kafka.bootstrap_servers, reconnect_backoff_ms=5)
    starting = asyncio.create_task(client.start())
    noticed = asyncio.create_task(is_waiting.wait())
    await asyncio.wait([starting, noticed], return_when=asyncio.FIRST_COMPLETED)
    assert is_waiting.is_set(), "it gave up"
    await asyncio.to_thread(kafka.start)
    await starting
    await client.close()
    (line,) = waiting.lines
    assert line.startswith("no broker could be reached; tried 127.0.0.1:")
    assert line.endswith(": Connection refused; trying again for up to 60 s")


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (Admin, "default.api.timeout.ms"),
        (Consumer[bytes, bytes], "default.api.timeout.ms"),
        (Producer[bytes, bytes], "max.block.ms"),
    ],
)
async def test_it_is_waited_for_so_long_with_one_line_in_the_log(
    waiting: Waiting, make: Callable[..., Admin], name: str
) -> None:
    settings = {"bootstrap.servers": NOBODY, name: 200, "retry.backoff.ms": 1}
    with pytest.raises(NetworkException, match=r"127\.0\.0\.1:1.*refused, for 0\.2 s"):
        await make(settings | {"reconnect.backoff.ms": 1, "reconnect.backoff.max.ms": 1}).start()
    assert len(waiting.lines) == 1


async def test_one_try_is_made_even_without_time_for_others(kafka: EmbeddedBroker) -> None:
    async with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers, max_block_ms=0):
        pass


async def test_a_broker_that_knows_of_none_is_waited_for() -> None:
    nobody = MetadataResponse(brokers=[], topics=[])
    answers: list[object] = [nobody, nobody]
    broker = Answering()
    broker.answers["Metadata"] = lambda _: answers.pop() if answers else broker.metadata()
    async with scripted_broker(broker) as broker.address:
        cluster = Cluster(ClientSettings(bootstrap_servers=str(broker.address), retry_backoff_ms=1))
        await cluster.connect()
        assert len(cluster.metadata.brokers) == 1
        cluster.close()


@pytest.mark.parametrize("make", CLIENTS)
async def test_a_name_that_nobody_knows_fails_at_once(
    waiting: Waiting, make: Callable[..., Admin]
) -> None:
    reason = r"no address in bootstrap\.servers can be resolved: no-such-host\.invalid:9092: \w+"
    with pytest.raises(InvalidConfig, match=reason):
        await make(bootstrap_servers="no-such-host.invalid:9092").start()
    assert waiting.lines == []


async def test_one_name_that_somebody_knows_is_enough(kafka: EmbeddedBroker) -> None:
    servers = f"no-such-host.invalid:9092,{kafka.bootstrap_servers}"
    async with Admin(bootstrap_servers=servers):
        pass


async def test_a_certificate_that_is_not_trusted_fails_at_once(
    waiting: Waiting, tmp_path: Path
) -> None:
    context = identity(authority(), "broker").server_context(tmp_path / "broker.pem")
    async with scripted_broker(lambda _: b"", context) as address:
        admin = Admin(
            bootstrap_servers=str(address),
            security_protocol="SSL",
            ssl_truststore_certificates=authority().certificate_pem,
        )
        with pytest.raises(SecurityRefused, match="its certificate is not trusted") as caught:
            await admin.start()
    assert isinstance(caught.value, AuthenticationFailed)
    assert waiting.lines == []


async def test_a_wrong_password_fails_at_once(waiting: Waiting) -> None:
    broker = Answering(
        SaslHandshake=lambda _: SaslHandshakeResponse(error_code=0, mechanisms=["PLAIN"]),
        SaslAuthenticate=lambda _: SaslAuthenticateResponse(
            error_code=58, error_message="wrong", auth_bytes=b""
        ),
    )
    async with scripted_broker(broker) as address:
        admin = Admin(
            bootstrap_servers=str(address),
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="PLAIN",
            sasl_username="anna",
            sasl_password="sesam",
        )
        with pytest.raises(SaslAuthenticationFailed, match="wrong"):
            await admin.start()
    assert waiting.lines == []
