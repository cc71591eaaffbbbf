"""The settings that topologies need."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from moldau.streams.settings import SETTINGS, starting

CHECK = "spark.sql.streaming.unsupportedOperationCheck"
REUSE = "spark.sql.exchange.reuse"


def test_state_is_kept_in_rocksdb() -> None:
    assert SETTINGS["spark.sql.streaming.stateStore.providerClass"].endswith(
        "RocksDBStateStoreProvider"
    )


@pytest.mark.needs("java")
def test_other_queries_of_a_session_are_planned_and_checked_as_ever(spark: SparkSession) -> None:
    with starting(spark):
        assert spark.conf.get(CHECK) == "false"
        assert spark.conf.get(REUSE) == "false"
    assert spark.conf.get(REUSE) == "true"
    counted = spark.readStream.format("rate").load().groupBy("value").count()
    chained = counted.groupBy("count").count()
    with pytest.raises(AnalysisException, match="issue due to global watermark"):
        chained.writeStream.format("noop").outputMode("update").start()
