"""What Spark cannot aggregate is counted and summed in Python; the rest is refused."""

import pytest
from pyspark.sql import SparkSession

from moldau.streams import LONG, SessionWindows, StreamsBuilder, TimeWindows
from moldau.streams.compile.folded_summaries import combining
from moldau.streams.testing.driver import TestDriver
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


@pytest.mark.needs("java")
def test_final_results_are_counted_by_key(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    windows = TimeWindows.of_size_with_no_grace(10)
    counts = builder.stream("clicks").group_by_key().windowed_by(windows).count()
    closed = counts.suppress_until_window_closes().to_stream().select_key("key.key")
    closed.group_by_key().count().to_stream().to("windows")
    closed.group_by_key().sum().to_stream().to("clicks-in-windows")
    with TestDriver(builder.build(), spark=spark) as driver:
        for millis in (1, 2, 13, 25):
            driver.pipe("clicks", key="k", value="x", timestamp_ms=millis)
        driver.run()
        assert driver.last_values("windows", value=LONG) == {"k": 2}
        assert driver.last_values("clicks-in-windows", value=LONG) == {"k": 3}


@pytest.mark.needs("java")
def test_final_results_go_to_several_steps_that_need_the_same_of_them(spark: SparkSession) -> None:
    """Spark would share an exchange between the steps, and forget the watermark of the second."""
    builder = StreamsBuilder()
    windows = TimeWindows.of_size_with_no_grace(10)
    counts = builder.stream("clicks").group_by_key().windowed_by(windows).count()
    closed = counts.suppress_until_window_closes().to_stream().select_key("key.key").group_by_key()
    closed.max().to_stream().to("most-in-a-window")
    closed.sum().to_stream().to("clicks-in-windows")
    with TestDriver(builder.build(), spark=spark) as driver:
        for millis in (1, 2, 13, 25):
            driver.pipe("clicks", key="k", value="x", timestamp_ms=millis)
        driver.run()
        assert driver.last_values("most-in-a-window", value=LONG) == {"k": 2}
        assert driver.last_values("clicks-in-windows", value=LONG) == {"k": 3}
