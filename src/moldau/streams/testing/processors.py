"""Runs one processor on given records in this process, without Spark's JVM: time is the test's.

driver = ProcessorDriver(Reminding())
driver.pipe("anna", "cart", timestamp_ms=1_000)
assert driver.advance_to(61_000) == [Record("anna", "still there?", 61_000)]
"""

import sys

from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

from moldau.streams.compile.counters import PlainCounter
from moldau.streams.compile.failures import FailedStep, KafkaLetters
from moldau.streams.compile.processing import MODES, Processing, headers_of
from moldau.streams.errors import FAILING, StepFailed
from moldau.streams.processors import Headers, Processor, Record

_FAILING = FailedStep("test", "test", FAILING, KafkaLetters(()), PlainCounter())


class ProcessorDriver:
    """Spark's own tester of processors, in the words of records."""

    def __init__(self, processor: Processor) -> None:
        self._time = processor.time
        self._tester = TwsTester(
            Processing(processor, _FAILING),
            timeMode=MODES[processor.time],
            # No record is late: Spark does not get their times either.
            eventTimeExtractor=lambda _: sys.maxsize,
        )
        self._count = 0

    def pipe(
        self, key: object, value: object, *, timestamp_ms: int = 0, headers: Headers = ()
    ) -> list[Record]:
        """What the processor gives for a record; what it raises is raised here."""
        place = {"topic": "test", "partition": 0, "offset": self._count, "steps": []}
        self._count += 1
        given = [Row(key=name, value=data) for name, data in headers] or None
        row = Row(key=key, value=value, millis=timestamp_ms, headers=given, place=place)
        try:
            return _records(self._tester.test(key, [row]))
        except StepFailed as failed:
            raise failed.__cause__ or failed from None

    def advance_to(self, time_ms: int) -> list[Record]:
        """What timers give that are due by then, in the time that the processor follows."""
        if self._time == "event":
            return _records(self._tester.setWatermark(time_ms))
        return _records(self._tester.setProcessingTime(time_ms))


def _records(rows: object) -> list[Record]:
    assert isinstance(rows, list)
    return [Record(row.key, row.value, row.millis, headers_of(row.headers)) for row in rows]
