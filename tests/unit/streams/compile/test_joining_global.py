"""A global table is looked up as it is at each micro-batch."""

import pytest
from pyspark.sql import SparkSession

from moldau.streams import StreamsBuilder
from moldau.streams.testing.driver import TestDriver

pytestmark = pytest.mark.needs("java")


def test_a_change_of_the_table_is_seen_by_the_next_micro_batch(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    rates = builder.global_table("rates")
    orders = builder.stream("orders")
    orders.join(rates, "concat(left, ' at ', right)", lookup="value").to("priced")
    orders.left_join(rates, "coalesce(right, 'unknown')", lookup="value").to("all")
    with TestDriver(builder.build(), spark=spark) as driver:
        driver.pipe("rates", key="CZK", value="25", timestamp_ms=0)
        driver.pipe("orders", key="a", value="CZK", timestamp_ms=1)
        driver.pipe("orders", key="b", value="PLN", timestamp_ms=2)
        driver.run()
        driver.pipe("rates", key="CZK", value="24", timestamp_ms=3)
        driver.pipe("orders", key="c", value="CZK", timestamp_ms=4)
        driver.run()
        assert driver.last_values("priced") == {"a": "CZK at 25", "c": "CZK at 24"}
        assert driver.last_values("all") == {"a": "25", "b": "unknown", "c": "24"}


def test_state_behind_a_global_table_is_refused_with_a_way_out(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    joined = builder.stream("orders").join(builder.global_table("rates"), "right", lookup="value")
    joined.group_by_key().count().to_stream().to("counts")
    with pytest.raises(TypeError, match=r"\.through\(topic\)"):
        TestDriver(builder.build(), spark=spark)
