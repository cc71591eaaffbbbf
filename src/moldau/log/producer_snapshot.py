"""Producer snapshots: the producer table at one offset, so that replay can begin there.

The file `<offset>.snapshot` holds an int16 version 1, the CRC-32C of everything behind
itself as uint32, an int32 count, and per producer:

    producer id   int64          offset delta       int32, of the last batch
    epoch         int16          timestamp          int64, of the last batch or marker
    last sequence int32 (-1)     coordinator epoch  int32 (-1)
    last offset   int64 (-1)     first offset of the open transaction  int64 (-1)

Only the last of the kept batches is in it. A snapshot belongs to the segment that begins
at its offset and goes with it; the newest may lie behind all segments: it was taken when
the log was closed.
"""

import struct
from collections.abc import Collection, Iterable
from typing import NamedTuple

from moldau.log.producer_state import KeptBatch, ProducerEntry
from moldau.model import NO_SEQUENCE
from moldau.records.crc32c import crc32c
from moldau.runtime.disk import Disk

HEADER = struct.Struct(">hI")
COUNT = struct.Struct(">i")
ENTRY = struct.Struct(">qhiqiqiq")
VERSION = 1
ENTRIES_POSITION = HEADER.size + COUNT.size
NO_OFFSET = -1


class _Fields(NamedTuple):
    """One producer, as the file has it."""

    producer_id: int
    epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    transaction_first_offset: int


class CorruptSnapshot(Exception):
    """A file that is not a snapshot; an older one, or the log itself, has to do."""


def encode(producers: Iterable[ProducerEntry]) -> bytes:
    """The bytes of a snapshot file."""
    entries = b"".join(ENTRY.pack(*_fields(producer)) for producer in producers)
    body = COUNT.pack(len(entries) // ENTRY.size) + entries
    return HEADER.pack(VERSION, crc32c(body)) + body


def decode(data: bytes) -> list[ProducerEntry]:
    """The producers in a snapshot file; raises `CorruptSnapshot`."""
    try:
        version, checksum = HEADER.unpack_from(data)
        (count,) = COUNT.unpack_from(data, HEADER.size)
    except struct.error:
        raise CorruptSnapshot(f"cut off after {len(data)} bytes") from None
    if version != VERSION:
        raise CorruptSnapshot(f"version {version}, not {VERSION}")
    if crc32c(memoryview(data)[HEADER.size :]) != checksum:
        raise CorruptSnapshot("the checksum does not match")
    if count < 0 or len(data) != ENTRIES_POSITION + count * ENTRY.size:
        raise CorruptSnapshot(f"{count} producers do not make {len(data)} bytes")
    return [_producer(_Fields(*fields)) for fields in ENTRY.iter_unpack(data[ENTRIES_POSITION:])]


def read(disk: Disk, path: str) -> list[ProducerEntry]:
    """Read a snapshot file; raises `CorruptSnapshot`."""
    return decode(disk.read_file(path))


def write(disk: Disk, path: str, producers: Iterable[ProducerEntry], *, sync: bool) -> None:
    """Write a snapshot file; a torn one is recognised by its checksum."""
    disk.remove(path)
    file = disk.open_append(path)
    file.append(encode(producers))
    if sync:
        file.sync()


def strays(snapshot_offsets: Iterable[int], base_offsets: Collection[int]) -> list[int]:
    """The snapshots to remove: those of no segment, save the newest if it is behind all."""
    stray = sorted(set(snapshot_offsets).difference(base_offsets))
    if stray and stray[-1] > max(base_offsets, default=NO_OFFSET):
        stray.pop()
    return stray


def newest(snapshot_offsets: Iterable[int], *, start_offset: int, end_offset: int) -> int | None:
    """The snapshot to start from for a log of these bounds; later ones are of its lost future."""
    usable = (offset for offset in snapshot_offsets if start_offset < offset <= end_offset)
    return max(usable, default=None)


def _fields(producer: ProducerEntry) -> _Fields:
    last = producer.batches[-1] if producer.batches else KeptBatch(NO_SEQUENCE, NO_OFFSET, 0, 0)
    first_offset = producer.transaction_first_offset
    return _Fields(
        producer.producer_id,
        producer.epoch,
        last.last_sequence,
        last.last_offset,
        last.offset_delta,
        producer.last_timestamp,
        producer.coordinator_epoch,
        NO_OFFSET if first_offset is None else first_offset,
    )


def _producer(fields: _Fields) -> ProducerEntry:
    batches: tuple[KeptBatch, ...] = ()
    if fields.last_offset >= 0:
        last = KeptBatch(
            fields.last_sequence, fields.last_offset, fields.offset_delta, fields.timestamp
        )
        batches = (last,)
    first_offset = fields.transaction_first_offset
    return ProducerEntry(
        producer_id=fields.producer_id,
        epoch=fields.epoch,
        coordinator_epoch=fields.coordinator_epoch,
        last_timestamp=fields.timestamp,
        transaction_first_offset=first_offset if first_offset >= 0 else None,
        batches=batches,
    )
