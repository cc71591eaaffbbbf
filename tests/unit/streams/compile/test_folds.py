"""Folds as records, in a running query."""

import pytest
from pyspark.sql import SparkSession

from moldau.streams import LONG, StreamsBuilder, json
from moldau.streams.testing.driver import OutputRecord, TestDriver

pytestmark = pytest.mark.needs("java")
TEXT = json("text string")


def test_python_functions_fold_values_and_structs(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    groups = builder.stream("clicks", value=TEXT).group_by_key()

    def counted(_key: object, _value: object, count: int) -> int:
        return count + 1

    def joined(one: dict[str, str], other: dict[str, str]) -> dict[str, str]:
        return {"text": one["text"] + other["text"]}

    groups.aggregate(int, counted, returns="bigint").to_stream().to("counts")
    texts = groups.reduce(joined)
    texts.to_stream().to("texts")
    with TestDriver(builder.build(), spark=spark) as driver:
        driver.pipe("clicks", key="k", value={"text": "a"}, timestamp_ms=5)
        driver.pipe("clicks", key=None, value={"text": "no key"}, timestamp_ms=6)
        driver.pipe("clicks", key="k", value=None, timestamp_ms=7)
        driver.run()
        driver.pipe("clicks", key="k", value={"text": "b"}, timestamp_ms=4)
        driver.run()
        assert driver.read("counts", value=LONG) == [
            OutputRecord("counts", "k", 1, 5),
            OutputRecord("counts", "k", 2, 5),
        ]
        assert driver.last_values("texts", value=TEXT) == {"k": {"text": "ab"}}
