"""What a Spark session must be set to for topologies."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROCKSDB = "spark.sql.streaming.stateStore.rocksdb"
_CHECK = "spark.sql.streaming.unsupportedOperationCheck"

SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # A micro-batch writes what it changed, not the files of the store; those follow now and then.
    f"{_ROCKSDB}.changelogCheckpointing.enabled": "true",
    # All stores of an executor share one bound, or each would take what it likes.
    f"{_ROCKSDB}.boundedMemoryUsage": "true",
    "spark.sql.session.timeZone": "UTC",
}


@contextmanager
def unchecked(spark: "SparkSession") -> Iterator[None]:
    """Let a query of a topology start.

    Spark refuses a chain of stateful steps in update mode, since with watermarks it could give
    wrong results. In topologies one step of a chain has a watermark, which compiling checks. Other
    queries of the session are looked at as ever.
    """
    before = spark.conf.get(_CHECK)
    spark.conf.set(_CHECK, "false")
    try:
        yield
    finally:
        spark.conf.set(_CHECK, str(before))
