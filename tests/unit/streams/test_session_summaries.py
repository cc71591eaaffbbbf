"""Open sessions are counted and summed; other aggregations wait for their end."""

import pytest
from pyspark.sql import SparkSession

from moldau.streams import SessionWindows, StreamsBuilder
from moldau.streams.session_summaries import combining
from unit.streams.given import written

SESSIONS = SessionWindows.of_inactivity_gap_with_no_grace(1000)


def test_values_are_combined_by_kind_whichever_came_first() -> None:
    found = {kind: combining(kind).add("key", 3, 5) for kind in ("count", "sum", "min", "max")}
    assert found == {"count": 8, "sum": 8, "min": 3, "max": 5}
    merge = combining("min").merge
    assert merge is not None
    assert merge("key", 3, 5) == merge("key", 5, 3) == 3


@pytest.mark.needs("java")
def test_other_aggregations_are_refused_with_what_to_do(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    sessions = builder.stream("clicks").group_by_key().windowed_by(SESSIONS)
    sessions.average("length(value)").to_stream().to("never")
    with pytest.raises(TypeError, match=r"others need \.suppress_until_window_closes"):
        written(spark, builder.build(), [])
