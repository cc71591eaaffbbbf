"""What is done with statements: one session for what is asked now, one for each stream."""

import logging
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from moldau.client.blocking.admin import Admin
from moldau.spark.source import register
from moldau.streams.run.state_partitions import SETTING
from moldau.streams.sql.output import failure_text
from moldau.streams.sql.statements import (
    BadStatement,
    CreateStream,
    DeclareStream,
    DropStream,
    ShowNames,
    SparkStatement,
    Statement,
    WatchQuery,
    parsed,
)
from moldau.streams.sql.stream_queries import (
    StreamQueries,
    StreamTarget,
    in_fitting_mode,
    reading_of,
)
from moldau.streams.sql.topic_tables import TopicReading, TopicTables, analysed

_VIEW = re.compile(r"create\s+(?:or\s+replace\s+)?(?:temp|temporary)\s+view\b", re.IGNORECASE)
_LIMIT = re.compile(r"\s+limit\s+(\d+)\s*$", re.IGNORECASE)
_POLL_S = 0.1

ShowRows = Callable[[Sequence[str], list[tuple[object, ...]]], None]


@dataclass(frozen=True, slots=True)
class SqlAnswer:
    """What a statement gives: rows, or a word about what was done."""

    names: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    note: str = ""
    is_cut: bool = False
    """Whether there are more rows than were asked for."""


@contextmanager
def _plainly() -> Iterator[None]:
    """Errors of Spark in one line."""
    try:
        yield
    except PySparkException as error:
        raise BadStatement(failure_text(str(error))) from error


class SqlConsole:
    """Runs statements one after the other."""

    def __init__(self, spark: SparkSession, tables: TopicTables, target: StreamTarget) -> None:
        self._spark = spark
        self._tables = tables
        self._admin = target.admin
        self.streams = StreamQueries(target)
        self._views: list[str] = []
        # It logs, with a stack of Java's, each name that we go on to look for among the topics.
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
        spark.conf.set(SETTING, str(spark.sparkContext.defaultParallelism))

    def run(self, text: str, rows_max: int) -> SqlAnswer:
        """Do what one statement says, but for watching, which does not end.

        BadStatement if it cannot be done.
        """
        with _plainly():
            return self._done(parsed(text), rows_max)

    def _done(self, statement: Statement, rows_max: int) -> SqlAnswer:
        match statement:
            case ShowNames(what):
                return self._streams() if what == "streams" else self._topics()
            case DeclareStream():
                self._tables.declare(statement)
                self._spark.catalog.dropTempView(statement.name)
                return SqlAnswer(note=f"{statement.name} is declared")
            case CreateStream():
                session = self._stream_session(reading_of(statement))
                frame = self._streaming(session, statement.query, reading_of(statement))
                topic = self.streams.start(statement, frame)
                return SqlAnswer(note=f"{statement.name} runs, and writes to the topic {topic}")
            case DropStream(name):
                self.streams.stop(name)
                return SqlAnswer(note=f"{name} has ended; its topic and its checkpoint stay")
            case WatchQuery():
                raise AssertionError("to be watched")
            case SparkStatement():
                return self._batch(statement.text, rows_max)

    def watch(
        self,
        watched: WatchQuery,
        start: str,
        show: ShowRows,
        stop: threading.Event,
    ) -> None:
        """Hand over rows as they come, until `stop` is set or the LIMIT is reached."""
        with _plainly():
            self._watch(watched, start, show, stop)

    def _watch(
        self,
        watched: WatchQuery,
        start: str,
        show: ShowRows,
        stop: threading.Event,
    ) -> None:
        limit = _LIMIT.search(watched.query)
        left = int(limit[1]) if limit else None
        query = watched.query[: limit.start()] if limit else watched.query
        reading = TopicReading(is_stream=True, start=start)
        frame = self._streaming(self._stream_session(reading), query, reading)

        def hand_over(batch: DataFrame, _batch_id: int) -> None:
            nonlocal left
            rows = [tuple(row) for row in (batch if left is None else batch.limit(left)).collect()]
            if rows:
                show(batch.columns, rows)
            if left is not None:
                left -= len(rows)

        writer = frame.writeStream.foreachBatch(hand_over)
        running = in_fitting_mode(lambda mode: writer.outputMode(mode).start())
        try:
            while running.isActive and not stop.wait(_POLL_S) and left != 0:
                pass
            error = running.exception()
            if error is not None:
                raise error
        finally:
            running.stop()

    def _batch(self, text: str, rows_max: int) -> SqlAnswer:
        self._tables.forget_views(self._spark)
        frame = analysed(self._spark, text, self._tables, TopicReading())
        if _VIEW.match(text):
            self._views.append(text)
        if not frame.columns:
            return SqlAnswer(note="done")
        rows = [tuple(row) for row in frame.take(rows_max + 1)]
        return SqlAnswer(frame.columns, rows[:rows_max], is_cut=len(rows) > rows_max)

    def _stream_session(self, reading: TopicReading) -> SparkSession:
        """A session of its own, in which topics are streams; views are made there again."""
        session = self._spark.newSession()
        register(session)
        session.conf.set(SETTING, str(session.sparkContext.defaultParallelism))
        for text in self._views:
            analysed(session, text, self._tables, reading)
        return session

    def _streaming(self, session: SparkSession, query: str, reading: TopicReading) -> DataFrame:
        frame = analysed(session, query, self._tables, reading)
        if not frame.isStreaming:
            raise BadStatement("the query reads no topic: nothing would ever come")
        return frame

    def _topics(self) -> SqlAnswer:
        with Admin(self._admin) as admin:
            names = sorted(admin.list_topics())
            described = admin.describe_topics(names).succeeded
        rows = [(name, len(described[name].partitions)) for name in names if name in described]
        return SqlAnswer(("topic", "partitions"), rows)

    def _streams(self) -> SqlAnswer:
        return SqlAnswer(("stream", "state", "last rows"), self.streams.rows())
