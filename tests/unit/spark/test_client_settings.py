"""A job brings the settings it had; what Kafka does not know is a mistake."""

import pytest

from moldau.client.settings import ConsumerSettings, ProducerSettings
from moldau.errors import KafkaError
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
        *("default.api.timeout.ms", "group.id", "sasl.kerberos.service.name"),
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
    assert line.startswith("without effect here: ")
    assert f"kafka.{name}" in line


def test_a_producer_has_settings_of_its_own() -> None:
    given = {**NEEDED, "kafka.metadata.max.idle.ms": "1"}
    assert len(client_settings(ProducerSettings, given, {})) == 1
    with pytest.raises(KafkaError, match=r"kafka\.metadata\.max\.idle\.ms is no setting"):
        client_settings(ConsumerSettings, given, {})


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    for wrong, right in {
        "kafka.fetch.max.byte": r"kafka\.fetch\.max\.bytes",
        "kafka.recieve.buffer.bytes": r"kafka\.receive\.buffer\.bytes",
    }.items():
        with pytest.raises(KafkaError, match=f"did you mean {right}\\?"):
            client_settings(ConsumerSettings, {**NEEDED, wrong: "1"}, {})


def test_classes_of_java_are_refused_unless_they_are_kafkas() -> None:
    ours = {**NEEDED, "kafka.partitioner.class": "org.apache.kafka.clients.DefaultPartitioner"}
    assert len(client_settings(ProducerSettings, ours, {})) == 1
    theirs = {**NEEDED, "kafka.partitioner.class": "com.example.Partitioner"}
    with pytest.raises(ValueError, match=r"com\.example\.Partitioner' is Java"):
        client_settings(ProducerSettings, theirs, {})


def test_a_refusal_has_its_reason() -> None:
    with pytest.raises(ValueError, match=r"kafka\.client\.id cannot be set: of a whim"):
        client_settings(
            ConsumerSettings, {**NEEDED, "kafka.client.id": "x"}, {"client.id": "of a whim"}
        )
    with pytest.raises(ValueError, match=r"kafka\.bootstrap\.servers is missing"):
        client_settings(ConsumerSettings, {}, {})
