"""A job brings the settings it had; what Kafka does not know is a mistake."""

import pytest

from moldau.client.settings import ConsumerSettings, ProducerSettings
from moldau.errors import InvalidConfig, KafkaError
from moldau.spark.client_settings import client_settings

NEEDED = {"kafka.bootstrap.servers": "localhost:9092", "subscribe": "a"}


def test_settings_of_the_client_are_kept() -> None:
    given = {**NEEDED, "kafka.client.id": "job", "kafka.isolation.level": "read_committed"}
    assert client_settings(ConsumerSettings, given, {}) == (
        ("bootstrap.servers", "localhost:9092"),
        ("client.id", "job"),
        ("isolation.level", "read_committed"),
    )


@pytest.mark.parametrize(
    "name",
    [
        *("receive.buffer.bytes", "reconnect.backoff.ms", "connections.max.idle.ms"),
        *("default.api.timeout.ms", "client.rack"),
    ],
)
def test_what_our_client_can_is_not_left_out(name: str, caplog: pytest.LogCaptureFixture) -> None:
    kept = client_settings(ConsumerSettings, {**NEEDED, f"kafka.{name}": "1"}, {})
    assert dict(kept)[name] == "1"
    assert not caplog.messages


@pytest.mark.parametrize(
    "name",
    [
        *("retry.backoff.max.ms", "ssl.provider", "sasl.oauthbearer.assertion.file"),
        *("exclude.internal.topics", "group.id", "sasl.kerberos.service.name"),
    ],
)
def test_what_matters_to_java_only_is_left_out_with_one_word(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    options = {**NEEDED, f"kafka.{name}": "1", "kafka.metric.reporters": f"of.{name}"}
    for _ in range(3):
        kept = client_settings(ConsumerSettings, options, {})
    assert kept == (("bootstrap.servers", "localhost:9092"),)
    (line,) = caplog.messages
    assert line.startswith("Settings without effect in Spark: ")
    assert f"kafka.{name}" in line


def test_a_producer_has_settings_of_its_own() -> None:
    given = {**NEEDED, "kafka.metadata.max.idle.ms": "1", "kafka.client.rack": "a"}
    assert len(client_settings(ProducerSettings, given, {})) == 1
    linger = {**NEEDED, "kafka.linger.ms": "1"}
    assert len(client_settings(ProducerSettings, linger, {})) == 2
    with pytest.raises(KafkaError, match=r"kafka\.linger\.ms is no setting"):
        client_settings(ConsumerSettings, linger, {})


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    for wrong, right in {
        "kafka.fetch.max.byte": r"kafka\.fetch\.max\.bytes",
        "kafka.recieve.buffer.bytes": r"kafka\.receive\.buffer\.bytes",
        "kafka.metric.reporter": r"kafka\.metric\.reporters",
    }.items():
        with pytest.raises(KafkaError, match=f"did you mean {right}\\?"):
            client_settings(ConsumerSettings, {**NEEDED, wrong: "1"}, {})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("partitioner.class", "must be a function, or one of"),
        ("sasl.login.class", "is not supported: it is Java's"),
        ("ssl.engine.factory.class", "is not supported: it is Java's"),
    ],
)
def test_classes_of_java_are_refused(name: str, words: str) -> None:
    theirs = {**NEEDED, f"kafka.{name}": "com.example.Other"}
    with pytest.raises(InvalidConfig, match=rf"com\.example\.Other.*{words}"):
        client_settings(ProducerSettings, theirs, {})


def test_kafkas_partitioner_may_be_named_but_rows_take_no_turns() -> None:
    classes = "org.apache.kafka.clients.producer"
    usual = {**NEEDED, "kafka.partitioner.class": f"{classes}.internals.DefaultPartitioner"}
    assert len(client_settings(ProducerSettings, usual, {})) == 1
    turns = {**NEEDED, "kafka.partitioner.class": f"{classes}.RoundRobinPartitioner"}
    with pytest.raises(ValueError, match=r"kafka\.partitioner\.class cannot be set: rows go by"):
        client_settings(ProducerSettings, turns, {})
    with pytest.raises(KafkaError, match=r"kafka\.partitioner\.class is no setting"):
        client_settings(ConsumerSettings, usual, {})


def test_a_refusal_has_its_reason() -> None:
    with pytest.raises(ValueError, match=r"kafka\.client\.id cannot be set: of a whim"):
        client_settings(
            ConsumerSettings, {**NEEDED, "kafka.client.id": "x"}, {"client.id": "of a whim"}
        )
    with pytest.raises(ValueError, match=r"kafka\.bootstrap\.servers is missing"):
        client_settings(ConsumerSettings, {}, {})
