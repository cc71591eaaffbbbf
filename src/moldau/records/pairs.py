"""Batches of keys and values that were all written at one moment, as coordinators store them."""

import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING

from moldau.model import NO_LEADER_EPOCH
from moldau.records.batch import (
    ATTRIBUTES_POSITION,
    CODEC_MASK,
    CRC_POSITION,
    HEADER,
    MAGIC,
    NO_PRODUCER,
    PREFIX_SIZE,
    RECORDS_POSITION,
    Producer,
)
from moldau.records.building import build
from moldau.records.compression import codec_of, compress
from moldau.records.crc32c import crc32c

if TYPE_CHECKING:
    from moldau.records.kernel_build import RecordBuffer

Pair = tuple[bytes, bytes | None]

_UINT32 = struct.Struct(">I")
_SIZE_MAX = 2**31 - 1


def write_pairs(
    pairs: Iterable[Pair],
    *,
    timestamp_ms: int,
    attributes: int = 0,
    producer: Producer = NO_PRODUCER,
) -> memoryview:
    """A batch with offsets from 0 on; the codec is part of `attributes`."""
    records: RecordBuffer = build.RecordBuffer(_SIZE_MAX)
    for key, value in pairs:
        records.append(timestamp_ms, key, value, (), _SIZE_MAX)
    assert records.count, "a batch has at least one record"
    batch = records.view()
    if attributes & CODEC_MASK:
        section = compress(codec_of(attributes & CODEC_MASK), batch[RECORDS_POSITION:])
        batch = memoryview(bytearray(RECORDS_POSITION) + section)
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
        timestamp_ms,
        timestamp_ms,
        producer.producer_id,
        producer.epoch,
        producer.base_sequence,
        records.count,
    )
    _UINT32.pack_into(batch, CRC_POSITION, crc32c(batch[ATTRIBUTES_POSITION:]))
    return batch
