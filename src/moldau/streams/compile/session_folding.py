"""Aggregations by Python functions over sessions, which change as records come."""

from collections.abc import Iterator

from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)
from pyspark.sql.types import ArrayType, LongType, StructField, StructType

from moldau.streams.compile.folding import (
    MILLIS,
    FoldTask,
    aggregate_types,
    plain,
    state_input,
    with_watermark,
)
from moldau.streams.compile.ordering import in_order
from moldau.streams.compile.records import KEY, VALUE
from moldau.streams.compile.sessions import OpenSessions, Session
from moldau.streams.compile.windowed_folding import END, START
from moldau.streams.windows import SessionWindows


def fold_sessions(task: FoldTask, windows: SessionWindows) -> DataFrame:
    """Rows of key, start, end, value and millis; a session that has become another is deleted."""
    rows = state_input(with_watermark(task.frame, windows))
    types = aggregate_types(rows, task.folding)
    times = [StructField(START, LongType()), StructField(END, LongType())]
    session = StructType([*times, *types.fields])
    output = StructType([rows.schema[KEY], *session.fields])
    state = StructType([StructField("open", ArrayType(session))])
    processor = FoldSessions(task, state, windows)
    return rows.groupBy(KEY).transformWithState(processor, output, "update", "eventTime")


class FoldSessions(StatefulProcessor):
    """All open sessions of a key."""

    def __init__(self, task: FoldTask, types: StructType, windows: SessionWindows) -> None:
        # Not the task itself: frames do not go to workers.
        self._folding, self._mode = task.folding, task.mode
        self._step, self._late = task.step, task.late
        self._types = types
        self._gap_ms = windows.gap_ms

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._state = handle.getValueState("sessions", self._types)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: N803 - Spark's name
    ) -> Iterator[Row]:
        sessions = self._restored(key[0])
        oldest_ms = timerValues.getCurrentWatermarkInMs() - self._gap_ms
        # Spark calls timers after the rows of their batch; Kafka finds no session that is over.
        yield from self._closed(key[0], sessions, oldest_ms)
        before = sorted(sessions.open, key=lambda each: each.start_ms)
        for row in in_order(rows):
            if sessions.is_late(row.millis, oldest_ms):
                self._late.add(1)
            else:
                self._add(sessions, row)
        if self._mode == "update":
            known = {(each.start_ms, each.end_ms) for each in sessions.open}
            for each in before:
                if (each.start_ms, each.end_ms) not in known:
                    yield _result(key[0], each, is_deleted=True)
            for each in sessions.open:
                if each not in before:
                    yield _result(key[0], each)
        yield from self._closed(key[0], sessions, oldest_ms)
        for each in sessions.open:
            if each not in before:
                self._handle.registerTimer(each.end_ms + self._gap_ms)
        self._store(sessions)

    def handleExpiredTimer(  # noqa: N802 - Spark's name
        self,
        key: tuple[object],
        timerValues: TimerValues,  # noqa: ARG002, N803 - Spark's name
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803 - Spark's name
    ) -> Iterator[Row]:
        sessions = self._restored(key[0])
        yield from self._closed(
            key[0], sessions, expiredTimerInfo.getExpiryTimeInMs() - self._gap_ms
        )
        self._store(sessions)

    def _closed(self, key: object, sessions: OpenSessions, until_ms: int) -> Iterator[Row]:
        """Close the sessions that no record can prolong; only now are they results that stay."""
        closed = sessions.close(until_ms)
        if self._mode == "append":
            yield from (_result(key, each) for each in closed)

    def _add(self, sessions: OpenSessions, row: Row) -> None:
        try:
            sessions.add(row.value, row.millis)
        except Exception as error:  # noqa: BLE001 - whatever the user's function raises
            self._step.handle(row.place, sessions.key, row.value, error)

    def _restored(self, key: object) -> OpenSessions:
        found = self._state.get()
        stored = [] if found is None else [_session(each) for each in found[0]]
        return OpenSessions(key, self._folding, self._gap_ms, stored)

    def _store(self, sessions: OpenSessions) -> None:
        if not sessions.open:
            self._state.clear()
            return
        rows = [
            Row(**{START: each.start_ms, END: each.end_ms, VALUE: each.value, MILLIS: each.millis})
            for each in sessions.open
        ]
        self._state.update((rows,))


def _session(stored: Row) -> Session:
    return Session(stored[0], stored[1], plain(stored[2]), stored[3])


def _result(key: object, session: Session, *, is_deleted: bool = False) -> Row:
    window = {KEY: key, START: session.start_ms, END: session.end_ms}
    value = None if is_deleted else session.value
    return Row(**window, **{VALUE: value, MILLIS: session.millis})
