"""A topology while it runs: its queries are started, watched, started again, and stopped."""

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from moldau.errors import KafkaError
from moldau.runtime.clock import Clock, SystemClock
from moldau.spark.batch_job import run_batch
from moldau.spark.batch_writing import BatchWriting
from moldau.spark.reasons import reason
from moldau.spark.sink_columns import SinkColumns
from moldau.spark.sink_options import SinkOptions
from moldau.streams.compile.compiling import Query
from moldau.streams.compile.failures import Tally
from moldau.streams.run.late_rows import LateRows
from moldau.streams.run.restarts import RESTARTS_MAX, WINDOW_MS, Restarts
from moldau.streams.run.state_partitions import SETTING
from moldau.streams.settings import starting

_log = logging.getLogger(__name__)

RENEWAL_MS = 24 * 3_600_000
"""The offsets of groups expire: an idle query says again, so often, which batch was its last."""
RENEWAL_RETRY_MS = 600_000
"""When that failed: offsets expire after days, so there is time."""
_LOOK_S = 0.25


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How queries run; `checkpoint` is the directory from which they go on after a restart.

    `sink` has its options, with the names of Spark's own.
    """

    sink: Mapping[str, str] = field(repr=False)
    checkpoint: str
    is_exactly_once: bool = True
    trigger: Mapping[str, object] = field(default_factory=dict)
    restarts_max: int = RESTARTS_MAX
    restart_window_ms: int = WINDOW_MS
    state_partitions: Mapping[str, int] = field(default_factory=dict)
    """Of queries by their names; the session's setting counts for others."""


class QueryGivenUp(Exception):
    """A query fails again and again; the message says why."""


class RunningQuery:
    """One query, whichever attempt it is at."""

    def __init__(
        self, query: Query, settings: RunSettings, clock: Clock, late: LateRows | None = None
    ) -> None:
        self.name = query.name
        self.failure_count = 0
        self._late = late or LateRows()
        self._query = query
        self._settings = settings
        self._clock = clock
        self._restarts = Restarts(settings.restarts_max, settings.restart_window_ms)
        self._started: StreamingQuery | None = None
        self._writing: BatchWriting | None = None
        self._renewal_ms = clock.monotonic_ms() + RENEWAL_MS

    @property
    def progress(self) -> Mapping[str, object] | None:
        """What Spark says of the last micro-batch."""
        return None if self._started is None else self._started.lastProgress

    @property
    def late_records(self) -> int:
        """Records that came after their windows had closed: what Spark dropped, and what we did."""
        return self._late.of(self.name) + _value(self._query.compilation.counters.late_records)

    @property
    def failed_records(self) -> int:
        """Records that functions failed on and that were left out."""
        return _value(self._query.compilation.counters.failed_records)

    def look(self) -> None:
        """Start the query if it does not run and its time has come."""
        if self._started is not None and not self._started.isActive:
            self._note_end(self._started)
        now_ms = self._clock.monotonic_ms()
        if self._started is None:
            if self._restarts.is_due(now_ms):
                self._start()
        elif self._started.lastProgress is not None:
            self._restarts.note_success()
            self._renew(now_ms)

    @property
    def is_down(self) -> bool:
        """Whether the query has failed and does not run again yet."""
        return self._started is None and self.failure_count > 0

    def stop(self) -> None:
        """End; a micro-batch that is under way is done again after the next start."""
        if self._started is not None:
            self._started.stop()
        self._hang_up()

    def is_done(self) -> bool:
        """Whether a query that ends by itself has come to its end."""
        return (
            self._started is not None
            and not self._started.isActive
            and self._started.exception() is None
        )

    def _start(self) -> None:
        write = self._exactly_once() if self._settings.is_exactly_once else self._at_least_once
        writer = self._query.frame.writeStream.outputMode(self._query.mode)
        writer = writer.queryName(self.name).foreachBatch(self._prepared(write))
        writer = writer.option("checkpointLocation", f"{self._settings.checkpoint}/{self.name}")
        if self._settings.trigger:
            writer = writer.trigger(**self._settings.trigger)  # type: ignore[call-overload]
        spark = self._query.frame.sparkSession
        if self.name in self._settings.state_partitions:
            # Each query takes the settings that the session has when it starts.
            spark.conf.set(SETTING, str(self._settings.state_partitions[self.name]))
        with starting(spark):
            self._started = writer.start()

    def _prepared(
        self, write: Callable[[DataFrame, int], None]
    ) -> Callable[[DataFrame, int], None]:
        def prepare(batch: DataFrame, batch_id: int) -> None:
            if self._query.fan_out is None:
                write(self._query.outputs(batch), batch_id)
                return
            batch.persist()
            try:
                write(self._query.outputs(batch), batch_id)
            finally:
                batch.unpersist()

        return prepare

    def _exactly_once(self) -> Callable[[DataFrame, int], None]:
        sink = SinkOptions.read(self._settings.sink)

        def write(rows: DataFrame, batch_id: int) -> None:
            if self._writing is None:
                job = partial(run_batch, is_cached=self._query.fan_out is not None)
                self._writing = BatchWriting(sink, SinkColumns.of(rows.schema, None), job)
                self._writing.is_wanted = self._is_wanted
            self._writing.write(rows, batch_id)

        return write

    def _is_wanted(self) -> bool:
        """Whether a micro-batch that failed is worth another try."""
        return self._started is None or self._started.isActive

    def _at_least_once(self, rows: DataFrame, _batch_id: int) -> None:
        rows.write.format("moldau").options(**self._settings.sink).mode("append").save()

    def _note_end(self, ended: StreamingQuery) -> None:
        error = ended.exception()
        if error is None:
            return
        self.failure_count += 1
        self._hang_up()
        self._started = None
        delay_ms = self._restarts.note_failure(self._clock.monotonic_ms())
        why = reason(str(error))
        if delay_ms is None:
            most, window_s = self._settings.restarts_max, self._settings.restart_window_ms / 1e3
            raise QueryGivenUp(
                f"{self.name} failed, and was started again {most} times within {window_s:g} s: "
                f"{why}"
            )
        _log.error("%s failed and starts again in %.1f s: %s", self.name, delay_ms / 1e3, why)

    def _renew(self, now_ms: int) -> None:
        if self._writing is None or now_ms < self._renewal_ms:
            return
        assert self._started is not None
        try:
            self._writing.renew(self._started.id)
            self._renewal_ms = now_ms + RENEWAL_MS
        except KafkaError as error:
            self._renewal_ms = now_ms + RENEWAL_RETRY_MS
            _log.warning("%s failed to renew its committed batch id: %s", self.name, error)

    def _hang_up(self) -> None:
        if self._writing is not None:
            self._writing.close()
            self._writing = None


def run(
    queries: list[RunningQuery],
    stop: threading.Event,
    show: Callable[[list[RunningQuery]], None],
) -> None:
    """Keep queries running until asked to stop, or until all have come to their end.

    QueryGivenUp ends all of them: what one writes another may need.
    """
    try:
        while not stop.wait(_LOOK_S) and not all(query.is_done() for query in queries):
            for query in queries:
                query.look()
            show(queries)
        if not stop.is_set():
            show(queries)  # how they ended
    finally:
        for query in queries:
            query.stop()


def running_queries(
    queries: tuple[Query, ...],
    settings: RunSettings,
    clock: Clock | None = None,
    late: LateRows | None = None,
) -> list[RunningQuery]:
    """The queries of a topology, none of them started yet."""
    return [RunningQuery(query, settings, clock or SystemClock(), late) for query in queries]


def _value(counter: Tally) -> int:
    value: int = getattr(counter, "value", 0)
    return value
