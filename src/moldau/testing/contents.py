"""What is in a topic, read from the logs of a broker in this process."""

from collections.abc import Iterator

from moldau.broker.broker import Broker
from moldau.config.suggestion import nearest
from moldau.log.log import Log
from moldau.records.batch import iterate_headers, read_records
from moldau.records.record import Record

_BATCH_MAX_BYTES = 1 << 30
_NAMES_MAX = 10


def bounds_of(broker: Broker, topic: str) -> list[tuple[int, int]]:
    """Where the committed part of each partition begins and ends; records need not fill it."""
    return [(log.log_start_offset, log.high_watermark) for log in _logs(broker, topic)]


def records_of(broker: Broker, topic: str) -> dict[int, list[Record]]:
    """All committed records, by partition."""
    return {log.partition.partition: _records(log) for log in _logs(broker, topic)}


def describe(broker: Broker, topic: str) -> str:
    """What a topic has, or which topics there are instead."""
    logs = _logs(broker, topic)
    if logs:
        return "; ".join(_described(log) for log in logs)
    names = sorted(broker.metadata.image.topics)
    if not names:
        return "there are no topics at all"
    meant = nearest(topic, names)
    hint = f"; did you mean {meant}?" if meant else ""
    more = ", ..." if len(names) > _NAMES_MAX else ""
    return f"there is no such topic, only {', '.join(names[:_NAMES_MAX])}{more}{hint}"


def _logs(broker: Broker, topic: str) -> list[Log]:
    found = [log for log in broker.logs if log.partition.topic == topic]
    return sorted(found, key=lambda log: log.partition.partition)


def _records(log: Log) -> list[Record]:
    found: list[Record] = []
    for segment in log.segments:
        data = segment.file().read(0, segment.size)
        for position, header in iterate_headers(data):
            if not header.is_control:
                found += read_records(data, position, limit_bytes=_BATCH_MAX_BYTES)
    return [
        record for record in found if log.log_start_offset <= record.offset < log.high_watermark
    ]


def _described(log: Log) -> str:
    where = f"partition {log.partition.partition}"
    start, end = log.log_start_offset, log.high_watermark
    if start == log.log_end_offset:
        return f"{where} is empty, at offset {start}"
    return f"{where} has " + ", ".join(
        [f"{len(_records(log))} records in offsets [{start}, {end})", *_remarks(log)]
    )


def _remarks(log: Log) -> Iterator[str]:
    """What may be why a consumer does not see a record."""
    for segment in log.segments:
        for each in segment.aborted_in(log.log_start_offset, log.high_watermark).transactions:
            end = each.last_offset + 1
            yield f"those in [{each.first_offset}, {end}) of an aborted transaction"
    if log.last_stable_offset < log.high_watermark:
        yield f"from {log.last_stable_offset} on with a transaction that is still open"
    if log.high_watermark < log.log_end_offset:
        yield f"and some up to {log.log_end_offset} that are not committed"
