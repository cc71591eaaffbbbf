"""The worker's Spark: one session for all connectors, begun with the first that needs it."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from moldau.connect.connector import ReaderLender, Source
from moldau.connect.spark.reader_tasks import ReaderTasks
from moldau.connect.spark.sink_query import SinkQuery
from moldau.connect.spark.source_rounds import rounds_of
from moldau.connect.worker.assembly import Assembly, TaskSurroundings
from moldau.connect.worker.settings import WorkerSettings
from moldau.connect.worker.task import Work
from moldau.spark.exactly_once import started
from moldau.spark.log_files import FILE
from moldau.spark.session import end_session, is_alive, session_in

_log = logging.getLogger(__name__)

_POOL = "spark.scheduler.pool"
_MASTER = "spark.master"
_SETTINGS = {
    # A snapshot's long stage would keep the small batches of other connectors waiting.
    "spark.scheduler.mode": "FAIR",
    # Checkpoints are of no use after a run, and progress is asked of the offsets.
    "spark.sql.streaming.minBatchesToRetain": "2",
    "spark.sql.streaming.numRecentProgressUpdates": "2",
    "spark.ui.enabled": "false",
    # Options of sources have the logins of clients among them.
    "spark.sql.redaction.options.regex": "(?i)url|password|secret|kafka[.](sasl|ssl)[.]",
}


class SparkEngine:
    """Gives connectors the session, and starts their queries one after the other."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._turn = threading.Lock()
        self._spark: SparkSession | None = None
        self.directory = Path(".moldau", f"connect-{quote(settings.group_id, safe='')}")
        """Where Spark's log goes."""

    def begin(self, assembly: Assembly, around: TaskSurroundings) -> Work:
        """The work of all tasks of a connector."""
        if issubclass(assembly.plugin.connector, Source):
            return rounds_of(self, assembly, around)
        return SinkQuery(self, assembly, around)

    def readers(self, assembly: Assembly, around: TaskSurroundings) -> ReaderLender:
        """Tasks that share the work of a source, which a thread of the worker reads."""
        return ReaderTasks(self, assembly, around)

    @contextmanager
    def session(self, name: str) -> Iterator[SparkSession]:
        """The session for a connector's thread, whose jobs have a fair share from now on.

        For one thread at a time: Python processes that are started side by side on a busy
        machine are too late for Spark, which waits ten seconds for them.
        """
        with self._turn:
            if self._spark is not None and not is_alive(self._spark):
                _log.error("Spark has ended: beginning anew; why, %s may say", self.log)
                end_session(self._spark)
                self._spark = None
            if self._spark is None:
                self._spark = self._begun()
            self._spark.sparkContext.setLocalProperty(_POOL, name)
            yield self._spark

    def start(self, name: str, begin: Callable[[SparkSession], StreamingQuery]) -> StreamingQuery:
        """Start a query, again if Spark's Python processes were too slow."""
        with self.session(name) as spark:
            return started(lambda: begin(spark))

    @property
    def log(self) -> Path:
        """Spark's own words."""
        return self.directory / FILE

    def close(self) -> None:
        """End the session; all queries have ended."""
        with self._turn:
            if self._spark is not None:
                end_session(self._spark)
                self._spark = None

    def _begun(self) -> SparkSession:
        given = self._settings.spark_settings
        master = given.pop(_MASTER, "")
        application = f"moldau-connect-{self._settings.group_id}"
        return session_in(self.directory, application, master, {**_SETTINGS, **given})
