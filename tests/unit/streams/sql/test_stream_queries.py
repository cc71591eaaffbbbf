"""What a stream is told, and in which mode it runs."""

from typing import cast

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql.streaming.query import StreamingQuery

from moldau.streams.sql.statements import BadStatement, CreateStream
from moldau.streams.sql.stream_queries import (
    StreamQueries,
    StreamTarget,
    in_fitting_mode,
    reading_of,
)
from moldau.streams.sql.topic_tables import TopicReading

QUERY = cast(StreamingQuery, object())


class Refused(AnalysisException):
    def __init__(self, condition: str) -> None:
        super().__init__(message="refused")
        self._given = condition

    def getCondition(self) -> str:  # noqa: N802 - Spark's name
        return self._given


def test_topics_are_read_from_the_beginning_unless_it_is_said() -> None:
    assert reading_of(CreateStream("t", "q")) == TopicReading(is_stream=True)
    told = CreateStream("t", "q", {"from": "latest", "watermark": "5 seconds"})
    assert reading_of(told) == TopicReading(True, "latest", "5 seconds")


@pytest.mark.parametrize(
    ("settings", "words"), [({"form": "x"}, "form: WITH has from"), ({"from": "x"}, "earliest or")]
)
def test_what_is_unknown_is_explained(settings: dict[str, str], words: str) -> None:
    with pytest.raises(BadStatement, match=words):
        reading_of(CreateStream("t", "q", settings))


def test_rows_that_are_never_final_are_written_at_every_change() -> None:
    tried = []

    def start(mode: str) -> StreamingQuery:
        tried.append(mode)
        if mode == "append":
            raise Refused("STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION")
        return QUERY

    assert in_fitting_mode(start) is QUERY
    assert tried == ["append", "update"]


def test_other_refusals_are_told() -> None:
    def start(_mode: str) -> StreamingQuery:
        raise Refused("UNSUPPORTED_FEATURE")

    with pytest.raises(Refused):
        in_fitting_mode(start)


def test_only_streams_that_are_there_can_be_ended() -> None:
    streams = StreamQueries(StreamTarget({}, {}, "/nowhere"))
    assert not streams.are_there
    with pytest.raises(BadStatement, match="there is no stream totals"):
        streams.stop("totals")
