"""Exactly once: a streaming query whose micro-batches are transactions."""

import logging
import threading
import time
from collections.abc import Callable, Mapping

from py4j.protocol import Py4JError
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from moldau.errors import KafkaError
from moldau.spark.batch_writing import BatchWriting
from moldau.spark.remote import check_frame
from moldau.spark.sink_columns import SinkColumns
from moldau.spark.sink_options import SinkOptions

_log = logging.getLogger(__name__)

CHECKPOINT = "checkpointLocation"
RENEWAL_S = 24 * 3600
"""The offsets of groups expire: an idle query says again, so often, which batch was its last."""
SLOW_START = "Python worker failed to connect back"
"""How Spark says that a worker did not start in time, which says nothing of the query."""
STARTS_MAX = 3
_FIRST_STEPS_S = 30.0
_POLL_S = 0.05
RETRY_S = 600
"""Where brokers did not take it, they are asked again after so long."""


def write_stream(
    frame: DataFrame,
    options: Mapping[str, str],
    *,
    trigger: Mapping[str, object] | None = None,
    query_name: str | None = None,
    output_mode: str = "append",
) -> StreamingQuery:
    """Start a query that writes a streaming frame to topics, every row exactly once.

        query = write_stream(
            frame,
            {
                "kafka.bootstrap.servers": "localhost:9092",
                "topic": "totals",
                "checkpointLocation": "/var/lib/pipeline/totals",
            },
            trigger={"processingTime": "1 second"},
        )

    Columns and options are those of `format("moldau")`; the trigger has the words of
    `DataStreamWriter.trigger`. Each micro-batch is one transaction, which readers with
    `isolation.level=read_committed` see as a whole or not at all. A query that is started
    again with the same checkpoint goes on where it ended, and takes over from a driver that is
    still there.
    """
    if CHECKPOINT not in options:
        raise ValueError(f"{CHECKPOINT} is missing: the query could not go on where it ended")
    check_frame(frame)
    sink = SinkOptions.read(options)
    writing = BatchWriting(sink, SinkColumns.of(frame.schema, sink.topic))
    writer = frame.writeStream.foreachBatch(writing.write).outputMode(output_mode)
    writer = writer.option(CHECKPOINT, options[CHECKPOINT])
    if trigger is not None:
        writer = writer.trigger(**trigger)  # type: ignore[call-overload]
    if query_name is not None:
        writer = writer.queryName(query_name)
    query = started(writer.start)
    writing.is_wanted = lambda: query.isActive
    threading.Thread(
        target=_accompany, args=(query, writing), name="moldau-exactly-once", daemon=True
    ).start()
    return query


def started(start: Callable[[], StreamingQuery]) -> StreamingQuery:
    """Start a query, again if Spark's first Python process took longer than the ten seconds it has.

    That is seen within the moments in which a query finds out what there is to read.
    """
    for is_last in (*[False] * STARTS_MAX, True):
        query = start()
        deadline = time.monotonic() + _FIRST_STEPS_S
        while query.isActive and _is_beginning(query) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        error = None if query.isActive else query.exception()
        if is_last or error is None or SLOW_START not in str(error):
            break
        _log.warning("Spark's Python process took too long to start: starting the query again")
    return query


def _is_beginning(query: StreamingQuery) -> bool:
    message = query.status["message"]
    return isinstance(message, str) and message.startswith(("Initializing", "Getting offsets"))


def _accompany(query: StreamingQuery, writing: BatchWriting) -> None:
    """Renew what brokers would forget, until the query ends; then hang up."""
    try:
        renew_until(query.awaitTermination, lambda: writing.renew(query.id))
    except (StreamingQueryException, Py4JError):
        pass  # the owner of the query gets it there
    finally:
        writing.close()


def renew_until(has_ended: Callable[[int], bool | None], renew: Callable[[], None]) -> None:
    """Renew day by day until the end, which `has_ended` waits for so many seconds.

    A day on which it fails is not the last: offsets are kept for a week.
    """
    pause_s = RENEWAL_S
    while not has_ended(pause_s):
        try:
            renew()
            pause_s = RENEWAL_S
        except (KafkaError, OSError) as error:
            _log.warning(
                "Failed to renew the committed batch id, retrying in %d s: %s", RETRY_S, error
            )
            pause_s = RETRY_S
