# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""The rules that produced records must pass before they are appended.

Their order is Kafka's, since it decides which error a producer sees when several are
broken: the request's version, then what the header says, then the records. A sound batch
is returned as it came, without a copy; it is rebuilt only if the topic wants another
codec, or if some clients could not read it.

This file runs as it stands and is also compiled as `_validate`: a broker spends much of a small
request here. `_validate.pxd` makes its functions C's; numbers from the network stay Python's,
which do not overflow.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.model import NO_TIMESTAMP
from moldau.records import lz4
from moldau.records.batch import (
    ATTRIBUTES_POSITION,
    CODEC_MASK,
    CONTROL,
    LOG_APPEND_TIME,
    MAGIC,
    MAGIC_POSITION,
    PREFIX_SIZE,
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
from moldau.records.record import Record, decode_records
from moldau.records.refusal import refuse_records
from moldau.records.rules import UNLIMITED_MS, ProduceRules
from moldau.records.scratch import Scratch
from moldau.records.upconvert import up_convert
from moldau.runtime import native

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

if not cython.compiled:
    from moldau.records.memory import address, int32_at

CheckRecords = Callable[[memoryview, int], tuple[int, int, int, bool]]
check_records: CheckRecords = native.kernel(
    "moldau.records._kernel", "moldau.records.kernel"
).check_records

_BATCHES_SINCE_VERSION = 3
_ZSTD_SINCE_VERSION = 7
_TIMESTAMP_MAX = 2**63 - 1
_LENGTH_POSITION = 8
# As plain numbers: the members of an enumeration take longer to find.
_UNCOMPRESSED, _LZ4, _ZSTD = int(Codec.NONE), int(Codec.LZ4), int(Codec.ZSTD)


class ValidBatch:
    """One batch that may be appended, from offset 0, in a writable buffer."""

    def __init__(
        self, data: WritableBuffer, header: BatchHeader, log_append_time_ms: int, is_rebuilt: bool
    ) -> None:
        self.data = data
        self.header = header
        self.log_append_time_ms = log_append_time_ms
        """As the response tells it."""
        self.is_rebuilt = is_rebuilt
        """Whether the topic wanted another format or codec."""


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
    opening = opening or Opening(Scratch())
    try:
        view = memoryview(records)
        if _is_one_batch(view) and request_version >= _ZSTD_SINCE_VERSION:
            return _Validation(rules, now_ms, opening).batch(view)
        first = entry_at(records, 0)
        if request_version >= _BATCHES_SINCE_VERSION:
            _check_request(records, first, request_version)
        if first is None:
            return None
        if first.magic == MAGIC:
            _require_single(records, first.size)
            return _Validation(rules, now_ms, opening).batch(view[: first.size])
        data = up_convert(records, list(iterate_entries(records)), rules, now_ms=now_ms)
        header = BatchHeader.read(data)
        return _Validation(rules, now_ms, opening).accept(data, header, True)
    except ProtocolError as error:
        raise KafkaError(ErrorCode.INVALID_RECORD, str(error)) from None


def _is_one_batch(records: memoryview) -> bool:
    """Whether it is one batch and nothing else, as nearly always."""
    size = len(records)
    if size < RECORDS_POSITION:
        return False
    data = address(records)
    return data[MAGIC_POSITION] == MAGIC and int32_at(data, _LENGTH_POSITION) == size - PREFIX_SIZE


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


class _Validation:
    """What one batch is checked against, rule after rule."""

    def __init__(self, rules: ProduceRules, now_ms: int, opening: Opening) -> None:
        self.rules = rules
        self.now_ms = now_ms
        self.opening = opening

    def batch(self, batch: memoryview) -> ValidBatch:
        """The batch as it is to be appended."""
        header = _read_sound_header(batch, self.rules)
        payload = batch[RECORDS_POSITION:]
        opening = self.opening
        if header.attributes & CODEC_MASK == _UNCOMPRESSED:
            opening.look_at(len(payload))
            return self.section(batch, header, payload)
        limit_bytes = self.rules.decompressed_max_bytes
        with opening.scratch.pool() as pool:
            section = opening.open(
                header.codec, payload, limit_bytes=limit_bytes, allocate=pool.allocate
            )
            return self.section(batch, header, section)

    def section(self, batch: memoryview, header: BatchHeader, section: memoryview) -> ValidBatch:
        """The same; `section` are the batch's records without compression."""
        rules = self.rules
        max_timestamp = self.max_timestamp(section, header)
        data: WritableBuffer = batch
        is_rebuilt = _must_recompress(batch, header, rules)
        if is_rebuilt:
            data = _recompress(header, section, rules)
        elif batch.readonly:
            data = bytearray(batch)
        if rules.is_log_append_time:
            stamp_log_append_time(data, 0, self.now_ms)
        elif header.attributes & LOG_APPEND_TIME or header.max_timestamp != max_timestamp:
            stamp_create_time(data, 0, max_timestamp)
        elif not is_rebuilt:
            return self.accept(data, header, False)
        return self.accept(data, BatchHeader.read(data), is_rebuilt)

    def max_timestamp(self, section: memoryview, header: BatchHeader) -> int:
        """Check every record and return the largest timestamp, as the topic counts it."""
        rules, now_ms = self.rules, self.now_ms
        min_delta, max_delta, _, any_null_key = check_records(section, header.record_count)
        base_timestamp = header.base_timestamp
        max_timestamp = base_timestamp + max_delta
        if max_timestamp < NO_TIMESTAMP:
            max_timestamp = NO_TIMESTAMP  # as Kafka counts it
        elif max_timestamp > _TIMESTAMP_MAX:
            raise KafkaError(ErrorCode.INVALID_TIMESTAMP, f"timestamp {max_timestamp}")
        claims_log_append_time = header.attributes & LOG_APPEND_TIME != 0
        may_be_out_of_range = not rules.is_log_append_time and (
            rules.timestamp_before_max_ms < min(now_ms - base_timestamp - min_delta, UNLIMITED_MS)
            or max_timestamp - now_ms > rules.timestamp_after_max_ms
        )
        # What the kernel found says whether a record may break a rule; only then is each read.
        if may_be_out_of_range or claims_log_append_time or (any_null_key and rules.is_compacted):
            self.opening.read_one_by_one(header.record_count)
            self.refuse_records(section, header, claims_log_append_time)
        return header.max_timestamp if claims_log_append_time else max_timestamp

    def refuse_records(
        self, section: memoryview, header: BatchHeader, claims_log_append_time: bool
    ) -> None:
        """Raise if a record breaks a rule of the topic."""
        rows = decode_records(
            section,
            record_count=header.record_count,
            base_offset=0,
            base_timestamp=header.base_timestamp,
        )
        if claims_log_append_time:
            rows = map(partial(_at_time, header.max_timestamp), rows)
        refuse_records(
            rows,
            self.rules,
            claims_log_append_time=claims_log_append_time,
            now_ms=self.now_ms,
        )

    def accept(self, data: WritableBuffer, header: BatchHeader, is_rebuilt: bool) -> ValidBatch:
        """What is appended, unless it does not fit."""
        rules = self.rules
        if is_rebuilt:
            _check_size(header.size, rules)
        if header.size > rules.segment_bytes:
            raise KafkaError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"batch of {header.size} bytes does not fit a segment of {rules.segment_bytes}",
            )
        log_append_time_ms = self.now_ms if rules.is_log_append_time else NO_TIMESTAMP
        return ValidBatch(data, header, log_append_time_ms, is_rebuilt)


def _at_time(timestamp: int, row: Record) -> Record:
    return row._replace(timestamp=timestamp)


def _read_sound_header(batch: memoryview, rules: ProduceRules) -> BatchHeader:
    try:
        header = BatchHeader.read(batch)
    except ProtocolError as error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, str(error)) from None
    size, attributes, record_count = header.size, header.attributes, header.record_count
    if header.base_offset != 0:
        raise KafkaError(ErrorCode.INVALID_RECORD, f"base offset {header.base_offset} is not 0")
    _check_size(size, rules)
    if checksum(batch, 0, size) != header.crc:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "batch has a wrong checksum")
    if attributes & CODEC_MASK > _ZSTD:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "unknown compression codec")
    if record_count <= 0 or record_count != header.last_offset_delta + 1:
        raise KafkaError(
            ErrorCode.INVALID_RECORD,
            f"{record_count} records with last offset delta {header.last_offset_delta}",
        )
    if attributes & CONTROL:
        raise KafkaError(ErrorCode.INVALID_RECORD, "only brokers write control batches")
    if header.base_sequence < 0 and header.has_producer:
        raise KafkaError(
            ErrorCode.INVALID_RECORD,
            f"producer {header.producer_id} sent sequence {header.base_sequence}",
        )
    return header


def _must_recompress(batch: memoryview, header: BatchHeader, rules: ProduceRules) -> bool:
    codec = header.attributes & CODEC_MASK
    if rules.codec is not None and rules.codec != codec:
        return True
    # Kafka 3.9 refuses what its Java clients could not read, with an unknown error.
    return codec == _LZ4 and lz4.has_linked_blocks(batch[RECORDS_POSITION:])


def _recompress(header: BatchHeader, section: memoryview, rules: ProduceRules) -> bytearray:
    codec = header.codec if rules.codec is None else rules.codec
    attributes = header.attributes & ~CODEC_MASK | codec
    payload = compress(codec, section, rules.level)
    return assemble_batch(replace(header, attributes=attributes), payload)


def _check_size(size: int, rules: ProduceRules) -> None:
    if size > rules.max_message_bytes:
        raise KafkaError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"batch of {size} bytes is larger than {rules.max_message_bytes}",
        )
