# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The rules that produced records must pass before they are appended.

Their order is Kafka's, since it decides which error a producer sees when several are
broken: the request's version, then what the header says, then the records. A sound batch
is returned as it came, without a copy; it is rebuilt only if the topic wants another
codec, or if some clients could not read it.

This file runs as it stands and is also compiled as `_validate`: a broker spends much of a small
request here; `_validate.pxd` then gives its variables C types.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.model import NO_PRODUCER_ID, NO_TIMESTAMP
from moldau.records import lz4
from moldau.records.batch import (
    ATTRIBUTES_POSITION,
    CODEC_MASK,
    CONTROL,
    LOG_APPEND_TIME,
    MAGIC,
    RECORDS_POSITION,
    BatchHeader,
    assemble_batch,
    stamp_create_time,
    stamp_log_append_time,
)
from moldau.records.buffers import ReadableBuffer, WritableBuffer
from moldau.records.compression import Codec, compress
from moldau.records.entries import BatchEntry, entry_at, iterate_entries
from moldau.records.opening import Opening
from moldau.records.record import Record, decode_records
from moldau.records.refusal import refuse_records
from moldau.records.rules import ProduceRules
from moldau.records.scratch import Scratch
from moldau.records.upconvert import up_convert
from moldau.runtime import native

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

if not cython.compiled:
    from moldau.records.memory import (
        bounded_difference,
        bounded_sum,
        checksum_function,
        checksum_of,
        int16_at,
        int32_at,
        int64_at,
        start_of,
    )

CheckRecords = Callable[[memoryview, int], tuple[int, int, int, bool]]
check_records: CheckRecords = native.kernel(
    "moldau.records._kernel", "moldau.records.kernel"
).check_records

_BATCHES_SINCE_VERSION = 3
_ZSTD_SINCE_VERSION = 7
# Numbers that C has as well; positions are those of `records/batch.py`.
HEADER_SIZE = RECORDS_POSITION
BATCH_MAGIC = MAGIC
CODEC_BITS, CONTROL_BIT, LOG_APPEND_TIME_BIT = CODEC_MASK, CONTROL, LOG_APPEND_TIME
UNCOMPRESSED, LZ4, ZSTD = int(Codec.NONE), int(Codec.LZ4), int(Codec.ZSTD)
NO_PRODUCER, NO_TIME = NO_PRODUCER_ID, NO_TIMESTAMP
CHECKSUM = checksum_function()


class ValidBatch:
    """One batch that may be appended, from offset 0, in a writable buffer."""

    def __init__(
        self, data: WritableBuffer, header: BatchHeader, log_append_time_ms: int, is_rebuilt: bool
    ) -> None:
        self.data = data
        self.header = header
        self.log_append_time_ms = log_append_time_ms
        """As the response has it."""
        self.is_rebuilt = is_rebuilt
        """Whether the topic wanted another format or codec."""


def validate_produce(
    records: ReadableBuffer | None,
    rules: ProduceRules,
    request_version: int,
    now_ms: int,
    opening: Opening | None = None,
) -> ValidBatch | None:
    """Check the records of one partition in a Produce request.

    With a bound on what may be opened, TooLargeToOpen is raised for what must be checked
    elsewhere.

    None if there is nothing to append, which only versions below 3 may ask for; Kafka
    answers them with base offset -1 and no error. Undecodable records are INVALID_RECORD:
    unlike CORRUPT_MESSAGE it keeps the producer from trying again.
    """
    if records is None:
        raise KafkaError(ErrorCode.INVALID_RECORD, "null instead of records")
    if opening is None:
        opening = Opening(Scratch())
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
        return _Validation(rules, now_ms, opening).accept(data, BatchHeader.read(data), True)
    except ProtocolError as error:
        raise KafkaError(ErrorCode.INVALID_RECORD, str(error)) from None


def _is_one_batch(records: memoryview) -> bool:
    """Whether it is one batch and nothing else, as nearly always."""
    size = len(records)
    if size < HEADER_SIZE:
        return False
    data = start_of(records)
    return data[16] == BATCH_MAGIC and int32_at(data, 8) == size - 12


def _check_request(records: ReadableBuffer, first: BatchEntry | None, request_version: int) -> None:
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
    """One batch as its header describes it, checked rule after rule."""

    def __init__(self, rules: ProduceRules, now_ms: int, opening: Opening) -> None:
        self.rules = rules
        self.now_ms = now_ms
        self.opening = opening
        self.size = self.attributes = self.record_count = 0
        self.base_timestamp = self.claimed_timestamp = 0

    def batch(self, batch: memoryview) -> ValidBatch:
        """The batch as it is to be appended."""
        header = self.header(batch)
        payload = batch[HEADER_SIZE:]
        if self.attributes & CODEC_BITS == UNCOMPRESSED:
            self.opening.look_at(len(payload))
            return self.section(batch, header, payload)
        limit_bytes = self.rules.decompressed_max_bytes
        scratch = self.opening.scratch
        pool = scratch.take()
        try:
            section = self.opening.open(
                header.codec, payload, limit_bytes=limit_bytes, allocate=pool.allocate
            )
            return self.section(batch, header, section)
        finally:
            scratch.give_back(pool)

    def header(self, batch: memoryview) -> BatchHeader:
        """Check what the header says."""
        size = self.size = len(batch)
        if size < HEADER_SIZE:
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"batch of {size} bytes has no header")
        data = start_of(batch)
        base_offset = int64_at(data, 0)
        if base_offset != 0:
            raise KafkaError(ErrorCode.INVALID_RECORD, f"base offset {base_offset} is not 0")
        self.check_size(size)
        claimed = int32_at(data, 17) & 0xFFFFFFFF
        if checksum_of(CHECKSUM, data, 21, size - 21) != claimed:
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "batch has a wrong checksum")
        attributes = self.attributes = int16_at(data, 21)
        if attributes & CODEC_BITS > ZSTD:
            raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "unknown compression codec")
        last_offset_delta = int32_at(data, 23)
        record_count = self.record_count = int32_at(data, 57)
        if record_count <= 0 or record_count - 1 != last_offset_delta:
            message = f"{record_count} records with last offset delta {last_offset_delta}"
            raise KafkaError(ErrorCode.INVALID_RECORD, message)
        if attributes & CONTROL_BIT:
            raise KafkaError(ErrorCode.INVALID_RECORD, "only brokers write control batches")
        producer_id, base_sequence = int64_at(data, 43), int32_at(data, 53)
        if producer_id > NO_PRODUCER and base_sequence < 0:
            message = f"producer {producer_id} sent sequence {base_sequence}"
            raise KafkaError(ErrorCode.INVALID_RECORD, message)
        self.base_timestamp = int64_at(data, 27)
        self.claimed_timestamp = int64_at(data, 35)
        # As `BatchHeader.read` makes it, but for the interpreter.
        header = BatchHeader.__new__(BatchHeader)
        header.base_offset = base_offset
        header.size = size
        header.leader_epoch = int32_at(data, 12)
        header.magic = BATCH_MAGIC
        header.crc = claimed
        header.attributes = attributes
        header.last_offset_delta = last_offset_delta
        header.base_timestamp = self.base_timestamp
        header.max_timestamp = self.claimed_timestamp
        header.producer_id = producer_id
        header.producer_epoch = int16_at(data, 51)
        header.base_sequence = base_sequence
        header.record_count = record_count
        return header

    def section(self, batch: memoryview, header: BatchHeader, section: memoryview) -> ValidBatch:
        """Check the records, which `section` has without compression."""
        rules = self.rules
        max_timestamp = self.max_timestamp(section)
        data: WritableBuffer = batch
        is_rebuilt = self.must_recompress(batch)
        if is_rebuilt:
            data = _recompress(header, section, rules)
        elif batch.readonly:
            data = bytearray(batch)
        if rules.is_log_append_time:
            stamp_log_append_time(data, 0, self.now_ms)
        elif self.attributes & LOG_APPEND_TIME_BIT or self.claimed_timestamp != max_timestamp:
            stamp_create_time(data, 0, max_timestamp)
        elif not is_rebuilt:
            return self.accept(data, header, False)
        return self.accept(data, BatchHeader.read(data), is_rebuilt)

    def max_timestamp(self, section: memoryview) -> int:
        """Check every record and return the largest timestamp, as the topic counts it."""
        rules, now_ms = self.rules, self.now_ms
        min_delta, max_delta, _, any_null_key = check_records(section, self.record_count)
        max_timestamp = bounded_sum(self.base_timestamp, max_delta)
        if max_timestamp < NO_TIME:
            max_timestamp = NO_TIME  # as Kafka counts it
        elif max_timestamp - max_delta != self.base_timestamp:
            raise KafkaError(ErrorCode.INVALID_TIMESTAMP, "a timestamp needs more than 64 bits")
        claims_log_append_time = self.attributes & LOG_APPEND_TIME_BIT != 0
        age_max_ms = bounded_difference(now_ms, bounded_sum(self.base_timestamp, min_delta))
        may_be_out_of_range = not rules.is_log_append_time and (
            age_max_ms > rules.timestamp_before_max_ms
            or bounded_difference(max_timestamp, now_ms) > rules.timestamp_after_max_ms
        )
        # What the kernel found says whether a record may break a rule; only then is each read.
        if may_be_out_of_range or claims_log_append_time or (any_null_key and rules.is_compacted):
            self.opening.read_one_by_one(self.record_count)
            self.refuse_records(section)
        return self.claimed_timestamp if claims_log_append_time else max_timestamp

    def refuse_records(self, section: memoryview) -> None:
        """Raise if a record breaks a rule of the topic."""
        rows = decode_records(
            section,
            record_count=self.record_count,
            base_offset=0,
            base_timestamp=self.base_timestamp,
        )
        claims_log_append_time = self.attributes & LOG_APPEND_TIME_BIT != 0
        if claims_log_append_time:
            rows = map(partial(_at_time, self.claimed_timestamp), rows)
        refuse_records(
            rows,
            self.rules,
            claims_log_append_time=claims_log_append_time,
            now_ms=self.now_ms,
        )

    def must_recompress(self, batch: memoryview) -> bool:
        """Whether the topic wants another codec, or some clients could not read this."""
        codec = self.attributes & CODEC_BITS
        if self.rules.codec is not None and self.rules.codec != codec:
            return True
        # Kafka 3.9 refuses what its Java clients could not read, with an unknown error.
        return codec == LZ4 and lz4.has_linked_blocks(batch[HEADER_SIZE:])

    def accept(self, data: WritableBuffer, header: BatchHeader, is_rebuilt: bool) -> ValidBatch:
        """What is appended, unless it does not fit."""
        size = header.size
        if is_rebuilt:
            self.check_size(size)
        if size > self.rules.segment_bytes:
            raise KafkaError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"batch of {size} bytes does not fit a segment of {self.rules.segment_bytes}",
            )
        time_ms = self.now_ms if self.rules.is_log_append_time else NO_TIME
        return ValidBatch(data, header, time_ms, is_rebuilt)

    def check_size(self, size: int) -> None:
        """Raise if the batch is larger than the topic allows."""
        if size > self.rules.max_message_bytes:
            raise KafkaError(
                ErrorCode.MESSAGE_TOO_LARGE,
                f"batch of {size} bytes is larger than {self.rules.max_message_bytes}",
            )


def _at_time(timestamp: int, row: Record) -> Record:
    return row._replace(timestamp=timestamp)


def _recompress(header: BatchHeader, section: memoryview, rules: ProduceRules) -> bytearray:
    codec = header.codec if rules.codec is None else rules.codec
    attributes = header.attributes & ~CODEC_MASK | codec
    payload = compress(codec, section, rules.level)
    return assemble_batch(replace(header, attributes=attributes), payload)
