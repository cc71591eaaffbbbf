"""What a Spark session must be set to for topologies."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROCKSDB = "spark.sql.streaming.stateStore.rocksdb"
_OF_QUERIES = {
    "spark.sql.streaming.unsupportedOperationCheck": "false",
    "spark.sql.exchange.reuse": "false",
}

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
def starting(spark: "SparkSession") -> Iterator[None]:
    """Set what only a query that starts meanwhile takes from its session.

    Spark refuses a chain of stateful steps in update mode, since with watermarks it could give
    wrong results. In topologies one step of a chain has a watermark, which compiling checks.

    Two steps that follow the same records would share an exchange. When Spark computes the
    watermarks of the next micro-batch, it does not look behind a shared exchange: the second step
    then waits for ever for windows to close.
    """
    before = {name: str(spark.conf.get(name)) for name in _OF_QUERIES}
    for name, value in _OF_QUERIES.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
