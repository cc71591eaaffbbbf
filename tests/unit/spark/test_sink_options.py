"""Options of a sink are read as Spark's own sink reads them."""

import pytest

from moldau.errors import KafkaError
from moldau.spark.sink_options import SinkOptions

SERVERS = {"kafka.bootstrap.servers": "localhost:9092"}


def test_names_are_compared_without_regard_to_case() -> None:
    options = SinkOptions.read({"Kafka.Bootstrap.Servers": "a:1", "TOPIC": "t"})
    assert options == SinkOptions((("bootstrap.servers", "a:1"),), "t")


def test_a_transaction_may_take_fifteen_minutes_unless_it_is_said() -> None:
    assert SinkOptions.read(SERVERS).settings().transactional_id == ""
    settings = SinkOptions.read(SERVERS).settings("id")
    assert (settings.transactional_id, settings.transaction_timeout_ms) == ("id", 900_000)
    shorter = SinkOptions.read({**SERVERS, "kafka.transaction.timeout.ms": "5000"})
    assert shorter.settings("id").transaction_timeout_ms == 5000


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "kafka.bootstrap.servers is missing"),
        ({**SERVERS, "kafka.value.serializer": "x"}, "kafka.value.serializer cannot be set"),
        ({**SERVERS, "kafka.transactional.id": "x"}, "made from the id of the query"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SinkOptions.read(given)


def test_a_setting_that_no_client_has_is_refused_before_anything_runs() -> None:
    with pytest.raises(KafkaError, match=r"linger\.ms"):
        SinkOptions.read({**SERVERS, "kafka.linger.mss": "1"})
