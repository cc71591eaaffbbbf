"""A sink as a streaming query: Spark's tasks write, the worker commits how far they are.

What decides where the sink goes on is its group, `connect-<name>`, and not Spark's checkpoint,
which is another one each time. States: at rest, until the first step and after `rest`; running;
ended, by an error that the next step raises.
"""

import logging
import shutil
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from moldau.connect.config.providers import ConfigProviders
from moldau.connect.connector import Sink
from moldau.connect.errors import ConfigError, ConnectError
from moldau.connect.spark.reports import REPORT, outcome
from moldau.connect.spark.sink_settings import source_options, trigger
from moldau.connect.spark.sink_tasks import SinkPlan, write_part
from moldau.connect.worker.assembly import Assembly, TaskSurroundings
from moldau.errors import KafkaError
from moldau.spark.cluster import SourceCluster
from moldau.spark.options import SourceOptions
from moldau.spark.queries import FAILURES, is_running, stop_query, why_ended, why_failed

_log = logging.getLogger(__name__)

_IDLE_S = 2.0


class Queries(Protocol):
    """Starts queries, one at a time."""

    def start(self, name: str, begin: Callable[[SparkSession], StreamingQuery]) -> StreamingQuery:
        """The query, once it has found its first offsets or has failed."""


class _Ending(Exception):
    """A batch came when the query was about to be stopped."""


@dataclass(slots=True)
class _Running:
    """What there is while the query runs."""

    query: StreamingQuery
    group: SourceCluster
    checkpoint: str


class SinkQuery:
    """The work of all tasks of a sink."""

    def __init__(self, queries: Queries, assembly: Assembly, around: TaskSurroundings) -> None:
        self._queries = queries
        self._assembly = assembly
        self._around = around
        self._running: _Running | None = None
        self._group: SourceCluster | None = None
        self._plan: SinkPlan | None = None
        self._turn = threading.Lock()
        """Its holder writes a batch, or sees to it that none begins."""
        self._is_ending = False
        self._failure: Exception | None = None
        self._used: set[str] = set()
        self._batch_count = 0
        self._seen_count = 0

    def step(self) -> bool:
        """Whether batches were written since the last step; raises what ended the query."""
        if self._running is None:
            self._running = self._start()
        if self._failure is not None:
            raise self._failure
        if not is_running(self._running.query):
            raise ConnectError(why_ended(self._running.query))
        before, self._seen_count = self._seen_count, self._batch_count
        return self._seen_count > before

    def idle_s(self) -> float:
        """How soon a failure is seen; the query goes on by itself."""
        return _IDLE_S

    def rest(self) -> None:
        """End the query after the batch that it is at."""
        if self._running is not None:
            self._stop(self._running)
            self._running = None

    def close(self) -> None:
        """End the query."""
        self.rest()

    # The query

    def _start(self) -> _Running:
        assembly, settings = self._assembly, self._around.settings
        connector = assembly.plugin.connector
        assert issubclass(connector, Sink), "sources are read otherwise"
        # Executors have no use for providers: values are in their places already.
        plain = replace(settings, providers=ConfigProviders())
        run = uuid.uuid4().hex
        self._plan = SinkPlan(run, assembly.name, connector, dict(assembly.config), plain)
        self._failure, self._is_ending = None, False
        waiting = self._options(())
        group = SourceCluster(_read(waiting))
        checkpoint = tempfile.mkdtemp(prefix="moldau-connect-")
        try:
            options = self._options({each.topic for each in group.partitions_found()})
            self._group = group
            begin = partial(self._begin, options, checkpoint)
            query = self._queries.start(assembly.name, begin)
        except BaseException as error:
            group.close()
            shutil.rmtree(checkpoint, ignore_errors=True)
            if isinstance(error, FAILURES) and not isinstance(error, KafkaError):
                raise ConnectError(why_failed(error)) from None
            raise
        return _Running(query, group, checkpoint)

    def _options(self, known: set[str] | tuple[()]) -> dict[str, str]:
        assembly, settings = self._assembly, self._around.settings
        return source_options(settings, assembly.name, assembly.config, known)

    def _begin(
        self, options: Mapping[str, str], checkpoint: str, spark: SparkSession
    ) -> StreamingQuery:
        frame = spark.readStream.format("moldau").options(**options).load()
        writer = frame.writeStream.foreachBatch(self._write)
        # On this machine, wherever executors are: only the driver reads and writes it.
        place = Path(checkpoint, uuid.uuid4().hex).as_uri()
        writer = writer.option("checkpointLocation", place).queryName(self._assembly.name)
        wanted = trigger(self._around.settings, self._assembly.config)
        if wanted is not None:
            writer = writer.trigger(**wanted)
        return writer.start()

    def _stop(self, running: _Running) -> None:
        self._is_ending = True
        if self._turn.acquire(timeout=self._around.settings.shutdown_s / 2):
            # Spark waits for a batch that came meanwhile, and would wait for ever for one that
            # waits for the turn.
            self._turn.release()
        stop_query(running.query)
        running.group.close()
        shutil.rmtree(running.checkpoint, ignore_errors=True)

    # What Spark calls with each batch

    def _write(self, frame: DataFrame, _batch_id: int) -> None:
        with self._turn:
            if self._is_ending:
                raise _Ending(f"{self._assembly.name} is being stopped")
            try:
                self._write_batch(frame)
            except FAILURES as error:
                known = isinstance(error, KafkaError)
                self._failure = error if known else ConnectError(why_failed(error))
                raise
            except Exception as error:
                self._failure = error
                raise
            self._batch_count += 1

    def _write_batch(self, frame: DataFrame) -> None:
        plan, group = self._plan, self._group
        assert plan is not None, "the query was started with it"
        assert group is not None, "the query was started with it"

        def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return write_part(batches, plan)

        found = outcome(frame.mapInArrow(write, REPORT).collect())
        for topic in {each.topic for each in found.offsets} - self._used:
            self._used.add(topic)
            self._around.used(topic)
        for why in found.skipped:
            _log.error("connector %s leaves a record out: %s", self._assembly.name, why)
        if found.offsets:
            group.commit(found.offsets)
        if found.failure is not None:
            raise found.failure


def _read(options: Mapping[str, str]) -> SourceOptions:
    try:
        return SourceOptions.read(options, is_stream=True)
    except (ValueError, KafkaError) as error:
        raise ConfigError(str(error)) from error
