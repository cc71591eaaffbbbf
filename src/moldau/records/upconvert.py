"""Up-conversion: message sets of older producers become one batch.

Produce versions 0 to 2 carry messages of magic 0 or 1. Those without compression may be
many; compressed ones are a single wrapper. Neither knows producers or transactions, and
magic 0 knows no timestamps, so its records have none (-1) unless the topic sets its own.
"""

from collections.abc import Sequence

from moldau.errors import ErrorCode, KafkaError
from moldau.records.batch import stamp_log_append_time, write_batch
from moldau.records.buffers import ReadableBuffer
from moldau.records.compression import Codec
from moldau.records.entries import BatchEntry
from moldau.records.legacy import Message, read_message, unwrap
from moldau.records.record import Record
from moldau.records.refusal import refuse_records
from moldau.records.rules import ProduceRules


def up_convert(
    data: ReadableBuffer, entries: Sequence[BatchEntry], rules: ProduceRules, *, now_ms: int
) -> bytearray:
    """Check the messages by the rules of the topic and write them as one batch from offset 0."""
    if any(entry.magic != entries[0].magic for entry in entries):
        raise KafkaError(ErrorCode.INVALID_RECORD, "messages of different magic in one set")
    messages = [_read(data, entry, rules) for entry in entries]
    codec = max(message.codec for message in messages)
    if codec != Codec.NONE and len(messages) > 1:
        raise KafkaError(ErrorCode.INVALID_RECORD, "more than one message beside a compressed set")
    records: list[Record] = []
    for message in messages:
        inner = unwrap(message, limit_bytes=rules.decompressed_max_bytes)
        refuse_records(
            inner, rules, claims_log_append_time=message.is_log_append_time, now_ms=now_ms
        )
        records += inner
    stored = [record._replace(offset=offset) for offset, record in enumerate(records)]
    attributes = int(codec if rules.codec is None else rules.codec)
    data = write_batch(stored, attributes=attributes, level=rules.level)
    if rules.is_log_append_time:
        # In the header alone, like that of a batch which came as one: the records keep theirs.
        stamp_log_append_time(data, 0, now_ms)
    return data


def _read(data: ReadableBuffer, entry: BatchEntry, rules: ProduceRules) -> Message:
    if entry.size > rules.max_message_bytes:
        raise KafkaError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"message of {entry.size} bytes is larger than {rules.max_message_bytes}",
        )
    return read_message(memoryview(data)[entry.position : entry.position + entry.size])
