"""What the one call asks for; the queries themselves are tested in tests/conformance."""

from typing import cast

import pytest
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType, StructField, StructType

import moldau.spark
from moldau.errors import ErrorCode, KafkaError
from moldau.spark.exactly_once import RENEWAL_S, RETRY_S, renew_until, write_stream


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
