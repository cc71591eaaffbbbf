"""A login is said once; other settings go to the clients that have them."""

import pytest

from moldau.errors import KafkaError
from moldau.streams.run.clients import ApplicationOptions

LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "anna",
    "sasl.password": "sesam",
}
SERVERS = {"bootstrap.servers": "kafka:9092"}


def prefixed(settings: dict[str, str]) -> dict[str, str]:
    return {f"kafka.{name}": value for name, value in settings.items()}


def test_a_login_is_for_all_clients() -> None:
    clients = ApplicationOptions("kafka:9092", prefixed(LOGIN))
    assert clients.admin == clients.view == LOGIN | SERVERS
    assert clients.sink == prefixed(LOGIN | SERVERS)
    assert clients.source == prefixed(
        LOGIN | SERVERS | {"isolation.level": "read_committed"},
    )


def test_a_setting_goes_to_the_clients_that_have_it() -> None:
    options = {
        "kafka.transaction.timeout.ms": "60000",
        "kafka.compression.type": "zstd",
        "kafka.isolation.level": "read_uncommitted",
        "Kafka.Fetch.Max.Bytes": "1000",
        "maxOffsetsPerTrigger": "10",
    }
    clients = ApplicationOptions("kafka:9092", options)
    assert clients.sink == prefixed(
        SERVERS | {"transaction.timeout.ms": "60000", "compression.type": "zstd"}
    )
    read = SERVERS | {"isolation.level": "read_uncommitted", "fetch.max.bytes": "1000"}
    assert clients.source == {"maxOffsetsPerTrigger": "10", **prefixed(read)}
    assert clients.view == read
    assert clients.admin == SERVERS


def test_what_is_javas_alone_goes_to_no_client() -> None:
    clients = ApplicationOptions("kafka:9092", {"kafka.metric.reporters": "a.B"})
    assert clients.admin == clients.view == SERVERS
    assert clients.sink == prefixed(SERVERS)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("kafka.compresion.type", "zstd", "compression.type"),
        ("kafka.compression.type", "brotli", "one of none, gzip"),
        ("kafka.security.protocol", "TLS", "security.protocol"),
        ("kafka.interceptor.classes", "a.B", "is not supported: they are Java's"),
    ],
)
def test_what_cannot_be_is_said_at_once(name: str, value: str, words: str) -> None:
    with pytest.raises(KafkaError, match=words):
        ApplicationOptions("kafka:9092", {name: value})


def test_transactional_ids_are_made_by_the_sink() -> None:
    with pytest.raises(ValueError, match="it is made from the id of the query"):
        ApplicationOptions("kafka:9092", {"kafka.transactional.id": "mine"})
