"""A topic, or a range of it, as one Arrow table or as a stream of batches."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Unpack

import pyarrow as pa

from moldau.client.arrow.formats import ValueFormat, typed
from moldau.client.arrow.tables import COLUMNS, schema_of
from moldau.client.blocking.consumer import Consumer
from moldau.client.options import ConsumerOptions
from moldau.client.progress import Progress, terminal
from moldau.client.settings import dotted
from moldau.model import TopicPartition

Bound = str | int | datetime | Mapping[int, int]
"""`"earliest"`, `"latest"`, an offset, a negative number of records before the end, a time, or
an offset for each partition."""

_POLL_S = 1.0


def read_topic(
    topic: str,
    *,
    start: Bound = "earliest",
    end: Bound = "latest",
    columns: Sequence[str] = COLUMNS,
    key: ValueFormat | None = None,
    value: ValueFormat | None = None,
    **settings: Unpack[ConsumerOptions],
) -> pa.Table:
    """The records of a topic from `start` on and before `end`, as an Arrow table.

    Settings are those of a consumer, `bootstrap_servers` at least. The end is where the topic
    ends now, unless said otherwise. With a format, keys or values are typed: columns of structs.
    A topic that is not there is never created, it is an UnknownTopicOrPartition.
    """
    return stream_topic(
        topic, start=start, end=end, columns=columns, key=key, value=value, **settings
    ).read_all()


def stream_topic(
    topic: str,
    *,
    start: Bound = "earliest",
    end: Bound = "latest",
    columns: Sequence[str] = COLUMNS,
    key: ValueFormat | None = None,
    value: ValueFormat | None = None,
    **settings: Unpack[ConsumerOptions],
) -> pa.RecordBatchReader:
    """As `read_topic`, batch by batch, for what does not fit into memory."""
    formats = {"key": key, "value": value}
    # `Schema.empty_table` would import pandas, which takes a second.
    schema = typed(pa.Table.from_batches([], schema_of(columns)), formats).schema
    given = {dotted(name): each for name, each in settings.items()}
    consumer = Consumer[bytes, bytes]({**given, "allow.auto.create.topics": False})
    try:
        ends = _ends(consumer, topic, start, end)
    except BaseException:
        consumer.close()
        raise
    return pa.RecordBatchReader.from_batches(schema, _batches(consumer, ends, columns, formats))


def _ends(
    consumer: Consumer[bytes, bytes], topic: str, start: Bound, end: Bound
) -> dict[TopicPartition, int]:
    """Go to the starts; return the ends of partitions that have something between them."""
    partitions = consumer.partitions_of(topic)
    starts, ends = resolve(consumer, partitions, start), resolve(consumer, partitions, end)
    wanted = {each: ends[each] for each in partitions if starts[each] < ends[each]}
    # At once: between assigning and seeking, a fetch from the end would begin, and wait there.
    consumer.assign({each: starts[each] for each in wanted})
    return wanted


def resolve(
    consumer: Consumer[bytes, bytes], partitions: Sequence[TopicPartition], bound: Bound
) -> dict[TopicPartition, int]:
    """The offsets that a bound means, never outside of what there is."""
    first, last = consumer.beginning_offsets(partitions), consumer.end_offsets(partitions)
    if bound == "earliest":
        return first
    if bound == "latest":
        return last
    if isinstance(bound, datetime):
        if bound.tzinfo is None:
            raise ValueError(f"{bound} has no time zone")
        times = dict.fromkeys(partitions, int(bound.timestamp() * 1000))
        found = consumer.offsets_for_times(times)
        return {each: last[each] if at is None else at.offset for each, at in found.items()}
    offsets: dict[TopicPartition, int] = {}
    for each in partitions:
        if isinstance(bound, int):
            offset = bound if bound >= 0 else last[each] + bound
        elif isinstance(bound, Mapping):
            offset = bound.get(each.partition, first[each])
        else:
            raise TypeError(f"{bound!r} is neither earliest nor latest, an offset nor a time")
        offsets[each] = min(max(offset, first[each]), last[each])
    return offsets


def _batches(
    consumer: Consumer[bytes, bytes],
    ends: dict[TopicPartition, int],
    columns: Sequence[str],
    formats: Mapping[str, ValueFormat | None],
) -> Iterator[pa.RecordBatch]:
    remaining = {each: end - consumer.position(each) for each, end in ends.items()}
    with consumer, Progress(sum(remaining.values()), terminal()) as progress:
        while remaining:
            table = consumer.poll_table(_POLL_S, columns=columns, end_offsets=ends)
            for partition in list(remaining):
                left = ends[partition] - consumer.position(partition)
                progress.add(remaining[partition] - max(left, 0))
                remaining[partition] = left
                if left <= 0:
                    del remaining[partition]
                    consumer.pause(partition)
            yield from typed(table, formats).to_batches()
