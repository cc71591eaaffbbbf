"""What is in a topic, read from the logs of a broker in this process."""

from moldau.broker.broker import Broker
from moldau.log.log import Log
from moldau.records.batch import iterate_headers, read_records
from moldau.records.record import Record

_BATCH_MAX_BYTES = 1 << 30


def record_count(broker: Broker, topic: str) -> int:
    """How many records are committed; offsets without a record count too."""
    return sum(log.high_watermark - log.log_start_offset for log in _logs(broker, topic))


def records_of(broker: Broker, topic: str) -> dict[int, list[Record]]:
    """All committed records, by partition."""
    return {log.partition.partition: _records(log) for log in _logs(broker, topic)}


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
