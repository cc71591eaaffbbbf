"""Records that functions fail on stop the step, are left out, or become dead letters."""

import logging

import pytest

from moldau.streams.compile.counters import PlainCounter
from moldau.streams.compile.failures import KafkaLetters, as_letter
from moldau.streams.errors import ErrorPolicy, StepFailed
from moldau.testing.broker import EmbeddedBroker
from unit.client.topics import create_topic
from unit.spark.in_transactions import committed
from unit.streams.state_rows import Letters, failed_step

PLACE = {"topic": "orders", "partition": 3, "offset": 17, "steps": []}
ERROR = ValueError("not a number\nat all")


def test_a_step_that_stops_says_on_what() -> None:
    words = r"step failed on orders-3 at offset 17 \('x{79}\): ValueError: not a number$"
    with pytest.raises(StepFailed, match=words) as caught:
        failed_step().handle(PLACE, "k", "x" * 200, ERROR)
    assert caught.value.__cause__ is ERROR


def test_a_record_is_left_out_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    step = failed_step(ErrorPolicy("continue"))
    with caplog.at_level(logging.WARNING):
        step.handle(PLACE, "k", "x", ERROR)
    assert step.failed == PlainCounter(1)
    assert "Left out: step failed on orders-3 at offset 17 ('x')" in caplog.text


def test_a_dead_letter_has_the_headers_of_kafka_connect() -> None:
    letters = Letters()
    step = failed_step(ErrorPolicy("dead-letter", "bad"), letters)
    step.handle(PLACE, "k", {"price": 3}, ERROR)
    assert letters.letters == [
        (
            "bad",
            b"k",
            b'{"price": 3}',
            {
                "__connect.errors.topic": b"orders",
                "__connect.errors.partition": b"3",
                "__connect.errors.offset": b"17",
                "__connect.errors.connector.name": b"app",
                "__connect.errors.stage": b"TRANSFORMATION",
                "__connect.errors.class.name": b"step",
                "__connect.errors.exception.class.name": b"ValueError",
                "__connect.errors.exception.message": b"not a number",
            },
        )
    ]
    assert step.failed == PlainCounter(1)


def test_keys_and_values_are_written_as_functions_got_them() -> None:
    given = [None, b"\xff", "Elbe", 7, {"at": None}]
    assert [as_letter(each) for each in given] == [None, b"\xff", b"Elbe", b"7", b'{"at": null}']


def test_letters_are_written_to_a_cluster(kafka: EmbeddedBroker) -> None:
    create_topic(kafka, "bad", 1)
    letters = KafkaLetters((("bootstrap.servers", kafka.bootstrap_servers),))
    letters.put("bad", b"k", b"one", [("why", b"x")])
    letters.put("bad", None, b"two", [])
    assert committed(kafka, "bad") == [b"one", b"two"]
