"""What a task does: fetch one range of offsets and hand it to Spark as Arrow batches."""

import logging
from collections.abc import Iterator

import pyarrow as pa

from moldau.client.blocking.consumer import Consumer
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.spark.cluster import consumer_settings
from moldau.spark.options import SourceOptions
from moldau.spark.planning import Range

_log = logging.getLogger(__name__)

_POLL_S = 1.0
# A gap at the end of a range, left by compaction or markers, may take some polls to be passed.
_SILENT_POLLS_MAX = 120
_TIMESTAMP = pa.timestamp("us", tz="UTC")
_CREATE_TIME, _LOG_APPEND_TIME = 0, 1


def read_range(
    wanted: Range, options: SourceOptions, *, has_append_time: bool
) -> Iterator[pa.RecordBatch]:
    """All records of a range that exist, in the order of their offsets."""
    partition, start, end = wanted
    fetched = [name for name in options.columns if name != "timestampType"]
    with Consumer[bytes, bytes](consumer_settings(options)) as consumer:
        consumer.assign({partition: _first_offset(consumer, wanted, options)})
        silent_polls = 0
        while consumer.position(partition) < end:
            table = _poll(consumer, partition, fetched, wanted)
            silent_polls = 0 if table.num_rows else silent_polls + 1
            if silent_polls > _SILENT_POLLS_MAX:
                at = consumer.position(partition)
                raise TimeoutError(f"{partition} gave nothing from {at} to {end}, within {start}")
            for batch in table.to_batches():
                yield _as_spark_has_it(batch, options.columns, has_append_time=has_append_time)


def _first_offset(consumer: Consumer[bytes, bytes], wanted: Range, options: SourceOptions) -> int:
    """Where to begin: at the start, or where the log begins if losses are to be passed over."""
    partition, start, _ = wanted
    (first,) = consumer.beginning_offsets([partition]).values()
    if first <= start:
        return start
    lost = _lost(partition, start, first)
    if options.fails_on_data_loss:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, lost)
    _log.warning("%s; going on", lost)
    return first


def _lost(partition: TopicPartition, start: int, first: int) -> str:
    return (
        f"{partition} begins at {first}, but was to be read from {start}: records are gone, by "
        "retention or because the topic was deleted; with failOnDataLoss=false the rest is read"
    )


def _poll(
    consumer: Consumer[bytes, bytes], partition: TopicPartition, columns: list[str], wanted: Range
) -> pa.Table:
    # Without columns of its own a table would not know how many rows it has.
    table: pa.Table = consumer.poll_table(
        _POLL_S, columns=columns or ["offset"], end_offsets={partition: wanted.end}
    )
    return table


def _as_spark_has_it(
    batch: pa.RecordBatch, columns: tuple[str, ...], *, has_append_time: bool
) -> pa.RecordBatch:
    """The columns of a batch with the types that Spark asks for."""
    kind = _LOG_APPEND_TIME if has_append_time else _CREATE_TIME
    arrays = []
    for name in columns:
        if name == "timestampType":
            arrays.append(pa.repeat(pa.scalar(kind, pa.int32()), batch.num_rows))
        elif name == "timestamp":
            arrays.append(batch.column(name).cast(_TIMESTAMP))
        elif name == "topic":
            arrays.append(batch.column(name).dictionary_decode())
        else:
            arrays.append(batch.column(name))
    return pa.RecordBatch.from_arrays(arrays, list(columns))
