"""One record batch of format version 2: its header, its checksum, its stamps.

    position  field                      position  field
           0  base offset        int64         27  base timestamp   int64
           8  length             int32         35  max timestamp    int64
          12  leader epoch       int32         43  producer id      int64
          16  magic = 2           int8         51  producer epoch   int16
          17  CRC-32C           uint32         53  base sequence    int32
          21  attributes         int16         57  record count     int32
          23  last offset delta  int32         61  records, compressed as a whole

The length counts the bytes after itself. The checksum covers everything from the
attributes on, so a broker stamps base offset and leader epoch without touching it.
After compaction a batch keeps its base offset and its last offset delta while records
are missing, so offsets advance by the delta and never by the record count.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from moldau.errors import ProtocolError
from moldau.model import NO_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE
from moldau.records.buffers import ReadableBuffer, WritableBuffer
from moldau.records.compression import Codec, codec_of, compress, decompress
from moldau.records.crc32c import crc32c
from moldau.records.record import Record, decode_records, encode_records

HEADER = struct.Struct(">qiibIhiqqqhii")
MAGIC = 2
MAGIC_POSITION = 16  # the same in every format version
PREFIX_SIZE = 12  # base offset and length, which the length does not count
CRC_POSITION = 17
ATTRIBUTES_POSITION = 21  # the checksum covers all from here
MAX_TIMESTAMP_POSITION = 35
RECORDS_POSITION = HEADER.size
LENGTH_MIN = HEADER.size - PREFIX_SIZE

CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08  # every record has the batch's max timestamp
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40  # KIP-534: the base timestamp is the time markers may be deleted

SEQUENCE_COUNT = 2**31  # sequences run from 0 to 2**31 - 1 and start over

_UINT32 = struct.Struct(">I")
_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")
_INT16 = struct.Struct(">h")


class Producer(NamedTuple):
    """The producer of a batch, for duplicate detection and transactions."""

    producer_id: int
    epoch: int
    base_sequence: int


NO_PRODUCER = Producer(NO_PRODUCER_ID, NO_PRODUCER_EPOCH, NO_SEQUENCE)


@dataclass(slots=True)
class BatchHeader:
    """The fixed fields of a batch; `size` counts the whole batch, prefix included."""

    base_offset: int
    size: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @classmethod
    def read(cls, buffer: ReadableBuffer, position: int = 0) -> Self:
        """Read the header at `position`; the records need not be in the buffer."""
        try:
            header = cls(*HEADER.unpack_from(buffer, position))
        except struct.error:
            raise ProtocolError(f"batch header at {position} is cut off") from None
        if header.magic != MAGIC:
            raise ProtocolError(f"batch has magic {header.magic}, not {MAGIC}")
        if header.size < LENGTH_MIN:
            raise ProtocolError(f"batch length {header.size} is below {LENGTH_MIN}")
        header.size += PREFIX_SIZE
        return header

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> Codec:
        return codec_of(self.attributes & CODEC_MASK)

    @property
    def is_log_append_time(self) -> bool:
        return self.attributes & LOG_APPEND_TIME != 0

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL != 0

    @property
    def is_control(self) -> bool:
        return self.attributes & CONTROL != 0

    @property
    def has_delete_horizon(self) -> bool:
        return self.attributes & DELETE_HORIZON != 0

    @property
    def has_producer(self) -> bool:
        return self.producer_id > NO_PRODUCER_ID

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record, which starts over at 0 past 2**31 - 1."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) % SEQUENCE_COUNT


def iterate_headers(
    buffer: ReadableBuffer, start: int = 0, end: int | None = None
) -> Iterator[tuple[int, BatchHeader]]:
    """Yield position and header of each complete batch in `[start, end)`.

    Stops before a partial trailing batch, which a fetch response may end with.
    """
    if end is None:
        end = len(buffer)
    position = start
    while position + RECORDS_POSITION <= end:
        header = BatchHeader.read(buffer, position)
        if position + header.size > end:
            return
        yield position, header
        position += header.size


def checksum(buffer: ReadableBuffer, position: int, size: int) -> int:
    """The CRC-32C that the batch of `size` bytes at `position` should have."""
    return crc32c(memoryview(buffer)[position + ATTRIBUTES_POSITION : position + size])


def crc_is_valid(buffer: ReadableBuffer, position: int, size: int) -> bool:
    """Whether the batch of `size` bytes at `position` has the checksum it claims."""
    (claimed,) = _UINT32.unpack_from(buffer, position + CRC_POSITION)
    return bool(claimed == checksum(buffer, position, size))


def stamp(buffer: WritableBuffer, position: int, *, base_offset: int, leader_epoch: int) -> None:
    """Give the batch its place in the log; neither field is covered by the checksum."""
    _INT64.pack_into(buffer, position, base_offset)
    _INT32.pack_into(buffer, position + PREFIX_SIZE, leader_epoch)


def stamp_log_append_time(buffer: WritableBuffer, position: int, timestamp_ms: int) -> None:
    """Make `timestamp_ms` the timestamp of every record, in the header alone."""
    header = BatchHeader.read(buffer, position)
    header.attributes |= LOG_APPEND_TIME
    header.max_timestamp = timestamp_ms
    _restamp(buffer, position, header)


def stamp_create_time(buffer: WritableBuffer, position: int, max_timestamp: int) -> None:
    """Let every record have the timestamp its producer gave it; the largest is known."""
    header = BatchHeader.read(buffer, position)
    header.attributes &= ~LOG_APPEND_TIME
    header.max_timestamp = max_timestamp
    _restamp(buffer, position, header)


def write_batch(
    records: Sequence[Record],
    *,
    base_offset: int = 0,
    attributes: int = 0,
    producer: Producer = NO_PRODUCER,
    level: int | None = None,
) -> bytearray:
    """Build a batch; the codec is part of `attributes` (`Codec.ZSTD | TRANSACTIONAL`).

    The records carry their own offsets, which may have gaps but must rise from
    `base_offset` on.
    """
    assert records, "a batch without records has no timestamps: use assemble_batch"
    base_timestamp = records[0].timestamp
    header = BatchHeader(
        base_offset=base_offset,
        size=0,
        leader_epoch=NO_LEADER_EPOCH,
        magic=MAGIC,
        crc=0,
        attributes=attributes,
        last_offset_delta=records[-1].offset - base_offset,
        base_timestamp=base_timestamp,
        max_timestamp=max(record.timestamp for record in records),
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        base_sequence=producer.base_sequence,
        record_count=len(records),
    )
    section = encode_records(records, base_offset=base_offset, base_timestamp=base_timestamp)
    return assemble_batch(header, compress(header.codec, section, level))


def assemble_batch(header: BatchHeader, section: ReadableBuffer) -> bytearray:
    """Join a header and its encoded, compressed records; size and checksum are computed."""
    batch = bytearray(RECORDS_POSITION + len(section))
    HEADER.pack_into(
        batch,
        0,
        header.base_offset,
        len(batch) - PREFIX_SIZE,
        header.leader_epoch,
        MAGIC,
        0,
        header.attributes,
        header.last_offset_delta,
        header.base_timestamp,
        header.max_timestamp,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.record_count,
    )
    batch[RECORDS_POSITION:] = section
    _seal(batch, 0, len(batch))
    return batch


def read_section(
    buffer: ReadableBuffer, position: int, header: BatchHeader, *, limit_bytes: int
) -> ReadableBuffer:
    """Return the encoded records of the batch, decompressed to at most `limit_bytes`."""
    section = memoryview(buffer)[position + RECORDS_POSITION : position + header.size]
    if len(section) != header.size - RECORDS_POSITION:
        raise ProtocolError(f"batch at {position} is cut off")
    if header.attributes & CODEC_MASK == Codec.NONE:
        return section
    return decompress(header.codec, section, limit_bytes=limit_bytes)


def read_records(
    buffer: ReadableBuffer, position: int = 0, *, limit_bytes: int
) -> Iterator[Record]:
    """Yield the records of one batch with absolute offsets and timestamps."""
    header = BatchHeader.read(buffer, position)
    section = read_section(buffer, position, header, limit_bytes=limit_bytes)
    records = decode_records(
        section,
        record_count=header.record_count,
        base_offset=header.base_offset,
        base_timestamp=header.base_timestamp,
    )
    if not header.is_log_append_time:
        return records
    return (record._replace(timestamp=header.max_timestamp) for record in records)


def _restamp(buffer: WritableBuffer, position: int, header: BatchHeader) -> None:
    _INT16.pack_into(buffer, position + ATTRIBUTES_POSITION, header.attributes)
    _INT64.pack_into(buffer, position + MAX_TIMESTAMP_POSITION, header.max_timestamp)
    _seal(buffer, position, header.size)


def _seal(buffer: WritableBuffer, position: int, size: int) -> None:
    _UINT32.pack_into(buffer, position + CRC_POSITION, checksum(buffer, position, size))
