"""Whatever a peer does, the error that reaches the user says what it was."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from certificates import authority, identity
from moldau.client.admin.admin import Admin
from moldau.client.connection.addresses import Address
from moldau.client.consumer.consumer import Consumer
from moldau.client.producer.producer import Producer
from moldau.errors import ErrorCode, KafkaError
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Drop, Fail
from unit.client.scripted import hanging_up, scripted_broker

PEERS: dict[str, Callable[[], AbstractAsyncContextManager[Address]]] = {
    "hangs up": hanging_up,
    "resets": lambda: hanging_up(is_reset=True),
    "speaks HTTP": lambda: hanging_up(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "speaks TLS": lambda: hanging_up(b"\x15\x03\x03\x00\x02\x02\x50"),
    "speaks nonsense": lambda: hanging_up(b"\x00\x00\x00\x01x"),
    "says nothing": lambda: hanging_up(is_kept=True),
    "says half": lambda: hanging_up(b"\x00\x00"),
}
PROTECTION: dict[str, dict[str, str]] = {
    "PLAINTEXT": {},
    "SSL": {"ssl.truststore.certificates": ""},
    "SASL_PLAINTEXT": {"sasl.mechanism": "PLAIN", "sasl.username": "a", "sasl.password": "b"},
}


def check(error: BaseException) -> None:
    """It has words, and they do not end where the reason should begin."""
    while error is not None:
        text = str(error)
        assert text.strip(), repr(error)
        assert not text.rstrip().endswith((":", ";", ",", "()")), text
        assert ": ;" not in text, text
        assert ": ," not in text, text
        if not isinstance(error, KafkaError) or not isinstance(error.__cause__, KafkaError):
            return
        error = error.__cause__


@pytest.mark.parametrize("protocol", PROTECTION)
@pytest.mark.parametrize("peer", PEERS)
async def test_a_start_that_fails_says_why(peer: str, protocol: str) -> None:
    async with PEERS[peer]() as address:
        settings = {"bootstrap.servers": str(address), "security.protocol": protocol}
        settings |= {"request.timeout.ms": "100", "default.api.timeout.ms": "1"}
        settings |= PROTECTION[protocol]
        if protocol == "SSL":
            settings["ssl.truststore.certificates"] = authority().certificate_pem
        with pytest.raises(KafkaError) as caught:
            await Admin(settings).start()
    check(caught.value)
    assert str(address) in str(caught.value)


async def test_a_start_that_fails_on_a_port_with_tls_says_why(tmp_path: Path) -> None:
    context = identity(authority(), "broker").server_context(tmp_path / "broker.pem")
    async with scripted_broker(lambda _: b"", context) as address:
        with pytest.raises(KafkaError, match=r"check that security\.protocol is that") as caught:
            await Admin(bootstrap_servers=str(address), default_api_timeout_ms=1).start()
    check(caught.value)


@pytest.mark.parametrize("action", [Drop(), Fail(ErrorCode.UNKNOWN_SERVER_ERROR)])
async def test_what_fails_later_says_why(kafka: EmbeddedBroker, action: Drop | Fail) -> None:
    quick: dict[str, object] = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "retry.backoff.ms": 1,
    }
    limits = {"request.timeout.ms": 100, "delivery.timeout.ms": 200, "max.block.ms": 200}
    async with (
        Producer({**quick, **limits}) as producer,
        Consumer(quick, group_id="g", default_api_timeout_ms=100) as consumer,
        Admin(quick, default_api_timeout_ms=100) as admin,
    ):
        await producer.send_and_wait("t", b"v")
        (partition,) = await consumer.partitions_of("t")
        for api in ("Produce", "ListOffsets", "OffsetFetch", "OffsetCommit", "CreateTopics"):
            kafka.control(api, lambda _: action)
        for call in (
            lambda: producer.send_and_wait("t", b"v"),
            lambda: consumer.end_offsets([partition]),
            lambda: consumer.committed([partition]),
            lambda: consumer.commit({partition: 0}),
        ):
            with pytest.raises(KafkaError) as caught:
                await call()
            check(caught.value)
        for error in (await admin.create_topics(["u"])).errors.values():
            check(error)


@pytest.mark.parametrize("code", [code for code in ErrorCode if code])
def test_no_error_is_without_words(code: ErrorCode) -> None:
    assert str(KafkaError(code)) == code.name
    assert str(KafkaError(code, "")) == code.name
