"""What the one call asks for; the queries themselves are tested in tests/conformance."""

from typing import cast

import pytest
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import LongType, StructField, StructType

import moldau.spark
from moldau.errors import ErrorCode, KafkaError
from moldau.spark.exactly_once import (
    RENEWAL_S,
    RETRY_S,
    SLOW_START,
    STARTS_MAX,
    renew_until,
    started,
    write_stream,
)


class Frame:
    """As much of a DataFrame as is asked for."""

    schema = StructType([StructField("value", LongType())])


FRAME = cast("DataFrame", Frame())
SERVERS = {"kafka.bootstrap.servers": "localhost:9092", "topic": "t"}


def test_it_is_what_the_package_exports() -> None:
    assert moldau.spark.write_stream is write_stream
    with pytest.raises(AttributeError, match="has no attribute 'read_stream'"):
        moldau.spark.read_stream  # noqa: B018


def test_a_checkpoint_is_needed() -> None:
    with pytest.raises(ValueError, match="checkpointLocation is missing"):
        write_stream(FRAME, SERVERS)


def test_columns_are_checked_before_the_query_starts() -> None:
    with pytest.raises(ValueError, match="'value' must be string or binary, not bigint"):
        write_stream(FRAME, {**SERVERS, "checkpointLocation": "/nowhere"})


def test_the_last_batch_is_noted_anew_also_after_a_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pauses: list[int] = []
    outcomes: list[Exception | None] = [
        None,
        KafkaError(ErrorCode.REQUEST_TIMED_OUT, "no answer"),
        OSError("no route"),
        None,
    ]

    def has_ended(pause_s: int) -> bool:
        pauses.append(pause_s)
        return not outcomes

    def renew() -> None:
        outcome = outcomes.pop(0)
        if outcome is not None:
            raise outcome

    renew_until(has_ended, renew)
    assert pauses == [RENEWAL_S, RENEWAL_S, RETRY_S, RETRY_S, RENEWAL_S]
    assert [each.message.rpartition(": ")[2] for each in caplog.records] == [
        "no answer",
        "no route",
    ]


class Starting:
    """A query as far as it is looked at while it starts."""

    def __init__(self, *messages: str, error: str | None = None) -> None:
        self._messages = list(messages)
        self._error = error

    @property
    def isActive(self) -> bool:  # noqa: N802 - Spark's name
        return bool(self._messages) or self._error is None

    @property
    def status(self) -> dict[str, str]:
        return {"message": self._messages.pop(0) if self._messages else "Waiting for data"}

    def exception(self) -> Exception | None:
        return None if self._error is None else Exception(self._error)


def test_a_query_whose_first_process_was_too_slow_is_started_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    slow = Starting("Initializing sources", error=f"{SLOW_START}.")
    good = Starting("Initializing sources", "Getting offsets from Python")
    queries = [slow, slow, good]
    found: object = started(lambda: cast("StreamingQuery", queries.pop(0)))
    assert found is good
    assert caplog.text.count("starting the query again") == 2
    for error, attempts in (("no topic", 1), (SLOW_START, STARTS_MAX + 1)):
        tried: list[int] = []

        def start(error: str = error, tried: list[int] = tried) -> StreamingQuery:
            tried.append(1)
            return cast("StreamingQuery", Starting(error=error))

        started(start)
        assert len(tried) == attempts
