"""Processors are tested with a time that the test sets."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import pytest

from moldau.streams.processors import Context, Processor, Record, Store, Time, ValueStore
from moldau.streams.testing.processors import ProcessorDriver


class Reminding(Processor):
    """Says so when nothing has come for a key for a minute of the machine's time."""

    time: ClassVar[Time] = "processing"
    stores: ClassVar[Mapping[str, Store]] = {"due": ValueStore("bigint")}

    def process(self, record: Record, context: Context) -> Iterator[Record]:
        due = context.value("due")
        before_ms = due.get()
        if isinstance(before_ms, int):
            context.delete_timer(before_ms)
        due.put(context.now_ms + 60_000)
        context.set_timer(context.now_ms + 60_000)
        yield record

    def on_timer(self, key: object, time_ms: int, context: Context) -> Iterator[Record]:
        context.value("due").delete()
        yield Record(key, "still there?", time_ms)


class Closing(Reminding):
    """The same in the time of records."""

    time: ClassVar[Time] = "event"


def test_a_timer_of_the_machine_is_due_when_the_test_says_so() -> None:
    driver = ProcessorDriver(Reminding())
    assert driver.pipe("anna", "cart") == [Record("anna", "cart", 0)]
    assert driver.advance_to(59_999) == []
    driver.pipe("anna", "cart")
    assert driver.advance_to(60_000) == []
    assert driver.advance_to(119_999) == [Record("anna", "still there?", 119_999)]


def test_timers_of_records_follow_the_watermark() -> None:
    driver = ProcessorDriver(Closing())
    driver.pipe("anna", "cart", timestamp_ms=1_000)
    assert driver.advance_to(60_000) == [Record("anna", "still there?", 60_000)]
    # A record is never too late, and a timer that it sets for a time gone by is due at once.
    late = Record("anna", "late", 10)
    assert driver.pipe("anna", "late", timestamp_ms=10) == [late]


def test_a_timer_for_a_time_that_has_passed_is_due_at_once() -> None:
    class Looking(Closing):
        def process(self, record: Record, context: Context) -> Iterator[Record]:
            context.set_timer(record.timestamp_ms)
            yield from ()

    driver = ProcessorDriver(Looking())
    driver.advance_to(60_000)
    driver.pipe("anna", "late", timestamp_ms=1_000)
    assert driver.advance_to(60_001) == [Record("anna", "still there?", 60_001)]


def test_a_processor_without_timers_has_no_time() -> None:
    class Timeless(Reminding):
        time: ClassVar[Time] = "none"

    with pytest.raises(Exception, match="ProcessingTime"):
        ProcessorDriver(Timeless()).advance_to(1)
