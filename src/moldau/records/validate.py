"""The rules that produced records must pass before they are appended.

Their order is Kafka's, since it decides which error a producer sees when several are
broken: the request's version, then what the header says, then the records. A sound batch
is returned as it came, without a copy; it is rebuilt only if the topic wants another
codec, or if some clients could not read it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.model import NO_TIMESTAMP
from moldau.records import lz4
from moldau.records.batch import (
    ATTRIBUTES_POSITION,
    CODEC_MASK,
    MAGIC,
    RECORDS_POSITION,
    BatchHeader,
    assemble_batch,
    checksum,
    stamp_create_time,
    stamp_log_append_time,
)
from moldau.records.buffers import ReadableBuffer, WritableBuffer
from moldau.records.compression import Codec, compress
from moldau.records.entries import Entry, entry_at, iterate_entries
from moldau.records.opening import Opening
from moldau.records.record import decode_records
from moldau.records.refusal import refuse_records
from moldau.records.rules import UNLIMITED_MS, ProduceRules
from moldau.records.scratch import Scratch
from moldau.records.upconvert import up_convert
from moldau.runtime import native

CheckRecords = Callable[[memoryview, int], tuple[int, int, int, bool]]
check_records: CheckRecords = native.kernel(
    "moldau.records._kernel", "moldau.records.kernel"
).check_records

_BATCHES_SINCE_VERSION = 3
_ZSTD_SINCE_VERSION = 7
_TIMESTAMP_MAX = 2**63 - 1


@dataclass(slots=True)
class ValidBatch:
    """One batch that may be appended, from offset 0, in a writable buffer."""

    data: WritableBuffer
    header: BatchHeader
    log_append_time_ms: int = NO_TIMESTAMP  # as the response tells it
    is_rebuilt: bool = False  # counts as a conversion in the metrics


def validate_produce(
    records: ReadableBuffer | None,
    rules: ProduceRules,
    *,
    request_version: int,
    now_ms: int,
    opening: Opening | None = None,
) -> ValidBatch | None:
    """Check the records of one partition in a Produce request.

    With a bound on what may be opened, TooLargeToOpen is raised for what must be checked
    elsewhere.

    None if there is nothing to append, which only versions below 3 may ask for; Kafka
    answers them with base offset -1 and no error. Undecodable records are INVALID_RECORD:
    unlike CORRUPT_MESSAGE it tells the producer not to try again.
    """
    if records is None:
        raise KafkaError(ErrorCode.INVALID_RECORD, "null instead of records")
    try:
        first = entry_at(records, 0)
        if request_version >= _BATCHES_SINCE_VERSION:
            _check_request(records, first, request_version)
        if first is None:
            return None
        if first.magic == MAGIC:
            _require_single(records, first.size)
            batch = memoryview(records)[: first.size]
            return _validate_batch(batch, rules, now_ms, opening or Opening(Scratch()))
        data = up_convert(records, list(iterate_entries(records)), rules, now_ms=now_ms)
        return _accept(data, BatchHeader.read(data), rules, now_ms, is_rebuilt=True)
    except ProtocolError as error:
        raise KafkaError(ErrorCode.INVALID_RECORD, str(error)) from None


def _check_request(records: ReadableBuffer, first: Entry | None, request_version: int) -> None:
    """Apply what this version of the request promises about its records."""
    if first is None:
        raise KafkaError(ErrorCode.INVALID_RECORD, "no complete batch")
    if first.magic != MAGIC:
        raise KafkaError(
            ErrorCode.INVALID_RECORD,
            f"Produce version {request_version} needs batches, not messages of magic {first.magic}",
        )
    codec = records[ATTRIBUTES_POSITION + 1] & CODEC_MASK
    if codec == Codec.ZSTD and request_version < _ZSTD_SINCE_VERSION:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Produce version 7 or later"
        )


def _require_single(records: ReadableBuffer, size: int) -> None:
    if len(records) > size and entry_at(records, size) is not None:
        raise KafkaError(ErrorCode.INVALID_RECORD, "more than one batch")


def _validate_batch(
    batch: memoryview, rules: ProduceRules, now_ms: int, opening: Opening
) -> ValidBatch:
    header = _read_sound_header(batch, rules)
    codec, payload = header.codec, batch[RECORDS_POSITION:]
    data: WritableBuffer = batch
    is_rebuilt = _must_recompress(payload, codec, rules)
    with opening.scratch.pool() as pool:
        limit_bytes = rules.decompressed_max_bytes
        section = opening.open(codec, payload, limit_bytes=limit_bytes, allocate=pool.allocate)
        max_timestamp = _check_section(section, header, rules, now_ms, opening)
        if is_rebuilt:
            data = _recompress(header, section, rules)
        elif batch.readonly:
            data = bytearray(batch)
    if rules.is_log_append_time:
        stamp_log_append_time(data, 0, now_ms)
    elif header.is_log_append_time or header.max_timestamp != max_timestamp:
        stamp_create_time(data, 0, max_timestamp)
    elif not is_rebuilt:
        return _accept(data, header, rules, now_ms, is_rebuilt=False)
    return _accept(data, BatchHeader.read(data), rules, now_ms, is_rebuilt=is_rebuilt)


def _read_sound_header(batch: memoryview, rules: ProduceRules) -> BatchHeader:
    try:
        header = BatchHeader.read(batch)
    except ProtocolError as error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, str(error)) from None
    if header.base_offset != 0:
        raise KafkaError(ErrorCode.INVALID_RECORD, f"base offset {header.base_offset} is not 0")
    _check_size(header.size, rules)
    if checksum(batch, 0, header.size) != header.crc:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "batch has a wrong checksum")
    if header.attributes & CODEC_MASK > Codec.ZSTD:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "unknown compression codec")
    if header.record_count <= 0 or header.record_count != header.last_offset_delta + 1:
        raise KafkaError(
            ErrorCode.INVALID_RECORD,
            f"{header.record_count} records with last offset delta {header.last_offset_delta}",
        )
    if header.is_control:
        raise KafkaError(ErrorCode.INVALID_RECORD, "only brokers write control batches")
    if header.has_producer and header.base_sequence < 0:
        raise KafkaError(
            ErrorCode.INVALID_RECORD,
            f"producer {header.producer_id} sent sequence {header.base_sequence}",
        )
    return header


def _check_section(
    section: memoryview, header: BatchHeader, rules: ProduceRules, now_ms: int, opening: Opening
) -> int:
    """Check every record and return the largest timestamp, as the topic counts it."""
    min_delta, max_delta, _, any_null_key = check_records(section, header.record_count)
    max_timestamp = header.base_timestamp + max_delta
    if max_timestamp < NO_TIMESTAMP:
        max_timestamp = NO_TIMESTAMP  # as Kafka counts it
    elif max_timestamp > _TIMESTAMP_MAX:
        raise KafkaError(ErrorCode.INVALID_TIMESTAMP, f"timestamp {max_timestamp}")
    claims_log_append_time = header.is_log_append_time
    age_max_ms = now_ms - header.base_timestamp - min_delta
    may_be_out_of_range = not rules.is_log_append_time and (
        rules.timestamp_before_max_ms < min(age_max_ms, UNLIMITED_MS)
        or max_timestamp - now_ms > rules.timestamp_after_max_ms
    )
    # What the kernel found says whether a record may break a rule; only then is each read.
    if may_be_out_of_range or claims_log_append_time or (any_null_key and rules.is_compacted):
        opening.read_one_by_one(header.record_count)
        rows = decode_records(
            section,
            record_count=header.record_count,
            base_offset=0,
            base_timestamp=header.base_timestamp,
        )
        if claims_log_append_time:
            rows = (row._replace(timestamp=header.max_timestamp) for row in rows)
        refuse_records(rows, rules, claims_log_append_time=claims_log_append_time, now_ms=now_ms)
    return header.max_timestamp if claims_log_append_time else max_timestamp


def _must_recompress(payload: memoryview, codec: Codec, rules: ProduceRules) -> bool:
    if rules.codec is not None and rules.codec != codec:
        return True
    # Kafka 3.9 refuses what its Java clients could not read, with an unknown error.
    return codec == Codec.LZ4 and lz4.has_linked_blocks(payload)


def _recompress(header: BatchHeader, section: memoryview, rules: ProduceRules) -> bytearray:
    codec = header.codec if rules.codec is None else rules.codec
    attributes = header.attributes & ~CODEC_MASK | codec
    payload = compress(codec, section, rules.level)
    return assemble_batch(replace(header, attributes=attributes), payload)


def _accept(
    data: WritableBuffer,
    header: BatchHeader,
    rules: ProduceRules,
    now_ms: int,
    *,
    is_rebuilt: bool,
) -> ValidBatch:
    if is_rebuilt:
        _check_size(header.size, rules)
    if header.size > rules.segment_bytes:
        raise KafkaError(
            ErrorCode.RECORD_LIST_TOO_LARGE,
            f"batch of {header.size} bytes does not fit a segment of {rules.segment_bytes}",
        )
    log_append_time_ms = now_ms if rules.is_log_append_time else NO_TIMESTAMP
    return ValidBatch(data, header, log_append_time_ms, is_rebuilt)


def _check_size(size: int, rules: ProduceRules) -> None:
    if size > rules.max_message_bytes:
        raise KafkaError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"batch of {size} bytes is larger than {rules.max_message_bytes}",
        )
