"""Two streams are joined within a window, and what found no partner is told when time is up."""

import pytest
from pyspark.sql import SparkSession

from moldau.streams import JoinWindows, StreamsBuilder
from moldau.streams.testing.driver import TestDriver

pytestmark = pytest.mark.needs("java")
WITHIN = JoinWindows.of_time_difference_with_no_grace(1_000).before(0)


def test_pairs_come_at_once_and_the_lonely_when_their_window_is_over(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    views, clicks = builder.stream("views"), builder.stream("clicks")
    views.left_join(clicks, "concat(key, ':', left, coalesce(right, '-'))", WITHIN).to("output")
    with TestDriver(builder.build(), spark=spark) as driver:
        driver.pipe("views", key="a", value="v1", timestamp_ms=10_000)
        driver.pipe("views", key="b", value="v2", timestamp_ms=10_000)
        driver.pipe("clicks", key="a", value="c1", timestamp_ms=11_000)
        driver.pipe("clicks", key="b", value="c2", timestamp_ms=9_999)
        driver.run()
        assert [record.value for record in driver.read("output")] == ["a:v1c1"]
        driver.pipe("views", key="c", value="v3", timestamp_ms=20_000)
        driver.pipe("clicks", key="c", value=None, timestamp_ms=20_000)
        driver.pipe("clicks", key="d", value="c4", timestamp_ms=20_000)
        driver.run()
        (_, lonely) = driver.read("output")
        assert (lonely.value, lonely.timestamp_ms) == ("b:v2-", 10_000)


def test_a_pair_has_the_headers_of_its_left_record_also_if_it_has_none(
    spark: SparkSession,
) -> None:
    builder = StreamsBuilder()
    views, clicks = builder.stream("views"), builder.stream("clicks")
    views.outer_join(clicks, "coalesce(left, '-') || coalesce(right, '-')", WITHIN).to("output")
    with TestDriver(builder.build(), spark=spark) as driver:
        theirs, own = (("of", b"click"),), (("of", b"view"),)
        driver.pipe("views", key="a", value="v1", timestamp_ms=10_000)
        driver.pipe("clicks", key="a", value="c1", timestamp_ms=10_000, headers=theirs)
        driver.pipe("views", key="b", value="v2", timestamp_ms=10_000, headers=own)
        driver.pipe("clicks", key="b", value="c2", timestamp_ms=10_000, headers=theirs)
        driver.pipe("clicks", key="c", value="c3", timestamp_ms=10_000, headers=theirs)
        driver.run()
        driver.pipe("views", key="d", value="v4", timestamp_ms=30_000)
        driver.pipe("clicks", key="d", value="c4", timestamp_ms=30_000)
        driver.run()
        found = {record.value: tuple(record.headers) for record in driver.read("output")}
    assert found == {"v1c1": (), "v2c2": own, "-c3": theirs, "v4c4": ()}
