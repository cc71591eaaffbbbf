"""Settings of clients from the command line and from files as Java's clients read them."""

from pathlib import Path

import pytest

from moldau.cli.terminal.client_settings import read_file, read_pairs, usable
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.settings import AdminSettings, ClientSettings, ConsumerSettings, ProducerSettings


def test_a_file_is_read_as_java_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("# ours\nclient.id : me\nlinger.ms=5\n")
    assert read_file(str(file)) == {"client.id": "me", "linger.ms": "5"}
    assert read_file("") == {}
    with pytest.raises(CommandFailed, match="missing: No such file"):
        read_file(str(tmp_path / "missing"))


def test_pairs_keep_what_comes_after_the_first_equals_sign() -> None:
    assert read_pairs(["a=b", "key.separator=,", "x=y=z", "empty="]) == {
        "a": "b",
        "key.separator": ",",
        "x": "y=z",
        "empty": "",
    }
    with pytest.raises(CommandFailed, match="Invalid command line properties: a"):
        read_pairs(["a"])


def test_what_is_javas_alone_is_dropped_and_the_rest_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = {
        "linger.ms": "5",
        "key.serializer": "org.apache.kafka.common.serialization.StringSerializer",
        "metrics.num.samples": "2",
        "sasl.mechanism": "PLAIN",
        "linger": "5",
    }
    assert usable(ProducerSettings, given) == {"linger.ms": "5", "sasl.mechanism": "PLAIN"}
    assert capsys.readouterr().err.count("\n") == 1


def test_assignors_may_be_named_as_in_java() -> None:
    name = "partition.assignment.strategy"
    given = {name: "org.apache.kafka.clients.consumer.RoundRobinAssignor"}
    assert usable(ConsumerSettings, given) == {name: "roundrobin"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("value.serializer", "io.confluent.kafka.serializers.KafkaAvroSerializer"),
        ("key.deserializer", "org.apache.kafka.common.serialization.LongDeserializer"),
        ("interceptor.classes", "com.example.Interceptor"),
    ],
)
def test_classes_that_are_not_here_are_named(
    capsys: pytest.CaptureFixture[str], name: str, value: str
) -> None:
    assert usable(ProducerSettings, {name: value}) == {}
    assert capsys.readouterr().err == f"WARN {name}: there is no {value} here, so it is not used.\n"


def test_classes_that_do_what_is_done_anyway_are_not_worth_a_word(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = {
        "key.serializer": "org.apache.kafka.common.serialization.StringSerializer",
        "value.deserializer": "org.apache.kafka.common.serialization.ByteArrayDeserializer",
        "partitioner.class": "org.apache.kafka.clients.producer.UniformStickyPartitioner",
        "interceptor.classes": "",
    }
    assert usable(ProducerSettings, given) == {}
    assert capsys.readouterr().err == ""


def test_a_partitioner_that_is_not_here_ends_the_command() -> None:
    name = "partitioner.class"
    given = "org.apache.kafka.clients.producer.RoundRobinPartitioner"
    assert usable(ProducerSettings, {name: given}) == {name: given}
    reason = (
        r"Invalid value a\.B for configuration partitioner\.class: Class a\.B could not be found"
    )
    with pytest.raises(CommandFailed, match=reason) as failed:
        usable(ProducerSettings, {name: "a.B"})
    assert failed.value.code == 1


@pytest.mark.parametrize("kind", [ConsumerSettings, AdminSettings])
def test_only_producers_need_a_partitioner(
    kind: type[ClientSettings], capsys: pytest.CaptureFixture[str]
) -> None:
    assert usable(kind, {"partitioner.class": "a.B"}) == {}
    assert "'partitioner.class' was supplied but isn't a known config" in capsys.readouterr().err
