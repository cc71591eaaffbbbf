"""How often Spark has optimized a plan, by its own count of the rules that it has run."""

import re
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

BATCHES = 3
_ONCE_FOR_A_PLAN = "org.apache.spark.sql.catalyst.optimizer.RewritePredicateSubquery"


def forget_optimizations(spark: SparkSession) -> None:
    """Count from here."""
    meter(spark).resetMetrics()


def optimizations(spark: SparkSession) -> int:
    """How many plans were optimized since; Spark does so once for each that it runs or looks at."""
    told = meter(spark).dumpTimeSpent()
    found = re.search(rf"^{re.escape(_ONCE_FOR_A_PLAN)} .* / (\d+) *$", told, re.MULTILINE)
    return 0 if found is None else int(found[1])


def of_batches(spark: SparkSession, directory: Path) -> DataFrame:
    """A stream of three micro-batches, with columns `key` and `value`."""
    directory.mkdir()
    for number in range(BATCHES):
        (directory / f"{number}.txt").write_text("one\ntwo\n")
    reader = spark.readStream.option("maxFilesPerTrigger", "1")
    return reader.text(str(directory)).selectExpr("value as key", "value")


def expected_optimizations(log: str) -> int:
    """Spark's plan of each micro-batch and that of the write, which is repeated if it fails."""
    return 2 * BATCHES + log.count("repeating all of it")


def meter(spark: SparkSession) -> Any:
    """What Spark counts the rules of all its sessions with."""
    jvm: Any = spark.sparkContext._jvm
    return jvm.org.apache.spark.sql.catalyst.rules.RuleExecutor
