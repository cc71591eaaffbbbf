"""Processors work on Spark's state: values, lists, dictionaries, timers."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import pytest
from pyspark.sql import SparkSession

from moldau.streams import StreamsBuilder
from moldau.streams.processors import (
    Context,
    ListStore,
    MapStore,
    Processor,
    Record,
    Store,
    Time,
    ValueStore,
)
from moldau.streams.testing.driver import OutputRecord, TestDriver
from moldau.streams.testing.processors import ProcessorDriver


class Remembering(Processor):
    """Keeps words of a key in every kind of store."""

    stores: ClassVar[Mapping[str, Store]] = {
        "last": ValueStore("string"),
        "all": ListStore("string"),
        "lengths": MapStore("string", "bigint"),
    }

    def process(self, record: Record, context: Context) -> Iterator[Record]:
        last, words, lengths = context.value("last"), context.list("all"), context.map("lengths")
        word = record.value
        if word == "forget":
            last.delete()
            words.delete()
            lengths.delete("first")
            return
        before = last.get()
        last.put(word)
        words.append(word)
        lengths.put(word, len(str(word)))
        told = [str(before), *map(str, words.get()), str(lengths.get(word))]
        yield record.with_value(" ".join([*told, str(len(list(lengths.items())))]))


class Closing(Processor):
    """Tells how much came for a key, ten seconds after its first record."""

    time: ClassVar[Time] = "event"
    stores: ClassVar[Mapping[str, Store]] = {"count": ValueStore("bigint")}

    def process(self, record: Record, context: Context) -> Iterator[Record]:
        count = context.value("count")
        before = count.get()
        if before is None:
            context.set_timer(record.timestamp_ms + 10_000)
        assert isinstance(before, int | None)
        count.put((before or 0) + 1)
        yield from ()

    def on_timer(self, key: object, time_ms: int, context: Context) -> Iterator[Record]:
        yield Record(key, context.value("count").get(), time_ms)
        context.value("count").delete()


class Echoing(Processor):
    """Numbers records, and tells ten seconds later that it was there."""

    time: ClassVar[Time] = "event"
    stores: ClassVar[Mapping[str, Store]] = {"count": ValueStore("bigint")}

    def process(self, record: Record, context: Context) -> Iterator[Record]:
        count = context.value("count")
        before = count.get() or 0
        assert isinstance(before, int)
        count.put(before + 1)
        context.set_timer(record.timestamp_ms + 10_000)
        yield record.with_value(f"{before + 1}:{record.value}")

    def on_timer(self, key: object, time_ms: int, context: Context) -> Iterator[Record]:
        yield Record(key, "due", time_ms).with_headers((("timer", None),))


HEADERS = (("from", b"x"), ("from", b"\xff"), ("empty", None))


def test_stores_belong_to_the_key() -> None:
    driver = ProcessorDriver(Remembering())
    values = [
        [record.value for record in driver.pipe(key, value)]
        for key, value in [("a", "x"), ("a", "yy"), ("b", "z"), ("a", "forget"), ("a", "x")]
    ]
    assert values == [["None x 1 1"], ["x x yy 2 2"], ["None z 1 1"], [], ["None x 1 2"]]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda context: context.value("all"), "'all' is no ValueStore"),
        (lambda context: context.list("last"), "'last' is no ListStore"),
        (lambda context: context.map("last"), "'last' is no MapStore"),
        (lambda context: context.value("none"), "its stores: last, all, lengths"),
    ],
)
def test_a_store_of_another_kind_is_told(ask: object, words: str) -> None:
    class Asking(Remembering):
        def process(self, record: Record, context: Context) -> Iterator[Record]:
            ask(context)  # type: ignore[operator]
            yield record

    with pytest.raises((TypeError, KeyError), match=words):
        ProcessorDriver(Asking()).pipe("a", "x")


def test_headers_and_records_without_a_key_pass_the_driver() -> None:
    driver = ProcessorDriver(Echoing())
    driver.pipe(None, "x", timestamp_ms=1_000)
    assert driver.pipe(None, "y", timestamp_ms=1_000, headers=HEADERS) == [
        Record(None, "2:y", 1_000, HEADERS)
    ]
    assert driver.advance_to(11_000) == [Record(None, "due", 11_000, (("timer", None),))]


@pytest.mark.needs("java")
def test_headers_and_records_without_a_key_pass_a_processor(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    builder.stream("input").process(Echoing()).to("output")
    with TestDriver(builder.build(), spark=spark) as driver:
        driver.pipe("input", value="x", timestamp_ms=100_000, headers=HEADERS)
        driver.pipe("input", value="y", timestamp_ms=100_000)
        driver.run()
        driver.pipe("input", key="k", value="z", timestamp_ms=115_000)
        driver.run()
        found = sorted(driver.read("output"), key=lambda each: (each.timestamp_ms, each.value))
        assert found == [
            OutputRecord("output", None, "1:x", 100_000, HEADERS),
            OutputRecord("output", None, "2:y", 100_000),
            OutputRecord("output", None, "due", 110_000, (("timer", None),)),
            OutputRecord("output", "k", "1:z", 115_000),
        ]


@pytest.mark.needs("java")
def test_a_timer_is_due_when_records_say_that_time_has_passed(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    builder.stream("input").process(Closing(), returns="bigint").map_values(
        "cast(value as string)"
    ).to("output")
    with TestDriver(builder.build(), spark=spark) as driver:
        driver.pipe("input", key="a", value="x", timestamp_ms=100_000)
        driver.pipe("input", key="a", value="y", timestamp_ms=101_000)
        driver.run()
        assert driver.read("output") == []
        driver.pipe("input", key="b", value="z", timestamp_ms=115_000)
        driver.run()
        (record,) = driver.read("output")
        assert (record.key, record.value, record.timestamp_ms) == ("a", "2", 110_000)
