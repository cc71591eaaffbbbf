"""Writes one micro-batch after the other, each as one transaction that its tasks share."""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.runtime.clock import SystemClock
from moldau.spark.batch_job import run_batch
from moldau.spark.interruption import interrupt
from moldau.spark.reasons import is_of_data, reason
from moldau.spark.shared_writing import Plan
from moldau.spark.sink_columns import SinkColumns
from moldau.spark.sink_options import SinkOptions
from moldau.spark.stages import StageRepeated
from moldau.spark.transactions import BatchTransactions

_log = logging.getLogger(__name__)

ATTEMPTS_MAX = 4
_QUERY_ID = "sql.streaming.queryId"
_FAILURES = (KafkaError, PySparkException, Py4JJavaError, StageRepeated)


Run = Callable[[DataFrame, Plan, int, Callable[[str], int]], dict[TopicPartition, int]]
"""Lets tasks write a frame, and says how many rows each partition got."""


class BatchTooLong(Exception):
    """A micro-batch took longer than its transaction may be open; nothing of it is visible."""


class BatchWriting:
    """What `foreachBatch` calls in the driver.

    A batch begins with a new epoch of the producer, which ends whatever was under way before, and
    with a look at the last batch that was committed: one that comes again is passed over. If
    anything fails, all of that happens again.
    """

    def __init__(self, options: SinkOptions, columns: SinkColumns, run: Run = run_batch) -> None:
        self._options = options
        self._columns = columns
        self._run = run
        self._clock = SystemClock()
        self._turn = threading.Lock()
        self._transactions: BatchTransactions | None = None
        self._transactional_id = ""
        self.is_wanted: Callable[[], bool] = lambda: True
        """Whether the query still runs: if not, a batch is not tried again."""

    def write(self, frame: DataFrame, batch_id: int) -> None:
        """Write a micro-batch, unless it is there already."""
        with self._turn:
            query_id = frame.sparkSession.sparkContext.getLocalProperty(_QUERY_ID)
            assert query_id is not None, "Spark says whose batch it is"
            transactions = self._transactions_of(query_id)
            for is_last in (*[False] * (ATTEMPTS_MAX - 1), True):
                if self._try(frame, batch_id, transactions, is_last=is_last):
                    return

    def renew(self, query_id: str) -> None:
        """Say again which batch was the last of an idle query."""
        with self._turn:
            self._transactions_of(query_id).renew()

    def close(self) -> None:
        """Hang up."""
        with self._turn:
            if self._transactions is not None:
                self._transactions.close()
                self._transactions = None

    def _try(
        self, frame: DataFrame, batch_id: int, transactions: BatchTransactions, *, is_last: bool
    ) -> bool:
        """Whether the batch is written; False if it is worth another try."""
        started_ms = self._clock.monotonic_ms()
        try:
            self._attempt(frame, batch_id, transactions)
        except _FAILURES as error:
            is_late, is_wanted = self._is_late(started_ms), self.is_wanted()
            if is_wanted and not (is_late or is_last or is_of_data(str(error))):
                why = reason(str(error))
                _log.warning("Failed to write batch %d, repeating all of it: %s", batch_id, why)
                return False
            with suppress(KafkaError):
                transactions.begin()  # or readers would wait for what will not come
            if not is_wanted:
                interrupt(frame)
            if is_late:
                raise self._too_long(batch_id) from error
            raise
        return True

    def _attempt(self, frame: DataFrame, batch_id: int, transactions: BatchTransactions) -> None:
        identity = transactions.begin()
        last = transactions.last_batch()
        if last >= batch_id:
            _log.info("Batch %d is written already: the last one was %d", batch_id, last)
            return
        plan = Plan(self._options, self._columns, self._transactional_id, identity)
        written = self._run(frame, plan, batch_id, transactions.partition_count)
        if written:
            transactions.commit(batch_id, written)

    def _transactions_of(self, query_id: str) -> BatchTransactions:
        if self._transactions is None:
            self._transactional_id = f"moldau-spark-{query_id}"
            settings = self._options.settings(self._transactional_id)
            self._transactions = BatchTransactions(settings)
        return self._transactions

    def _is_late(self, started_ms: int) -> bool:
        settings = self._options.settings(self._transactional_id)
        return self._clock.monotonic_ms() - started_ms >= settings.transaction_timeout_ms

    def _too_long(self, batch_id: int) -> BatchTooLong:
        settings = self._options.settings(self._transactional_id)
        return BatchTooLong(
            f"batch {batch_id} took longer than kafka.transaction.timeout.ms = "
            f"{settings.transaction_timeout_ms}: let a batch be smaller, by the option "
            "maxOffsetsPerTrigger of the source, or raise the timeout, which brokers bound by "
            "transaction.max.timeout.ms"
        )
