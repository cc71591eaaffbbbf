"""The records of a batch to the bytes that are sent."""

import struct
from typing import Protocol

from moldau.model import NO_LEADER_EPOCH
from moldau.records.batch import (
    ATTRIBUTES_POSITION,
    CODEC_MASK,
    CRC_POSITION,
    HEADER,
    MAGIC,
    PREFIX_SIZE,
    RECORDS_POSITION,
)
from moldau.records.building import BatchForm
from moldau.records.compression import codec_of, compress
from moldau.records.crc32c import crc32c

_UINT32 = struct.Struct(">I")


class BatchRecords(Protocol):
    """Records of one batch as they will be sent, before compression."""

    @property
    def count(self) -> int:
        """How many there are."""

    @property
    def size(self) -> int:
        """How many bytes they take, with the header of the batch."""

    @property
    def base_timestamp(self) -> int:
        """The time of the first."""

    @property
    def max_timestamp(self) -> int:
        """The latest time."""

    def view(self) -> memoryview:
        """Room for the header, then the records; writable."""


def seal(records: BatchRecords, form: BatchForm) -> memoryview:
    """The finished batch; where compression makes it no smaller, it is left out.

    An uncompressed batch is not copied: its header is written before its records.
    """
    batch, attributes = _compress(records.view(), form)
    HEADER.pack_into(
        batch,
        0,
        0,
        len(batch) - PREFIX_SIZE,
        NO_LEADER_EPOCH,
        MAGIC,
        0,
        attributes,
        records.count - 1,
        records.base_timestamp,
        records.max_timestamp,
        *form.producer,
        records.count,
    )
    _UINT32.pack_into(batch, CRC_POSITION, crc32c(batch[ATTRIBUTES_POSITION:]))
    return batch


def _compress(batch: memoryview, form: BatchForm) -> tuple[memoryview, int]:
    if not form.attributes & CODEC_MASK:
        return batch, form.attributes
    codec = codec_of(form.attributes & CODEC_MASK)
    compressed = compress(codec, batch[RECORDS_POSITION:], form.level)
    if RECORDS_POSITION + len(compressed) >= len(batch):
        return batch, form.attributes & ~CODEC_MASK
    smaller = memoryview(bytearray(RECORDS_POSITION + len(compressed)))
    smaller[RECORDS_POSITION:] = compressed
    return smaller, form.attributes
