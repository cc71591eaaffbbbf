"""Control batches: the markers that end a transaction in a partition.

A control batch holds one record, uncompressed, which consumers skip but whose offset
counts. Its key is int16 version and int16 type (0 abort, 1 commit; others belong to
KRaft), its value int16 version and int32 coordinator epoch. Later versions may append
fields, so bytes after the known ones are left alone.
"""

import struct
from typing import NamedTuple

from moldau.errors import ProtocolError
from moldau.model import NO_SEQUENCE
from moldau.records.batch import (
    CONTROL,
    TRANSACTIONAL,
    BatchHeader,
    Producer,
    read_records,
    write_batch,
)
from moldau.records.buffers import ReadableBuffer
from moldau.records.record import Record

MARKER_BATCH_SIZE = 78

_VERSION = 0
_ABORT = 0
_COMMIT = 1
_KEY = struct.Struct(">hh")
_VALUE = struct.Struct(">hi")
_SECTION_MAX_BYTES = 1024


class EndMarker(NamedTuple):
    """The end of a producer's transaction, as its coordinator decided it."""

    is_commit: bool
    coordinator_epoch: int


def write_end_marker(
    marker: EndMarker, *, producer_id: int, producer_epoch: int, timestamp_ms: int
) -> bytearray:
    """Build the control batch that ends the transaction of this producer."""
    key = _KEY.pack(_VERSION, _COMMIT if marker.is_commit else _ABORT)
    value = _VALUE.pack(_VERSION, marker.coordinator_epoch)
    return write_batch(
        [Record(0, timestamp_ms, key, value)],
        attributes=TRANSACTIONAL | CONTROL,
        producer=Producer(producer_id, producer_epoch, NO_SEQUENCE),
    )


def read_end_marker(buffer: ReadableBuffer, position: int = 0) -> EndMarker | None:
    """Read the marker of a control batch.

    None if it has none: compaction leaves empty control batches behind, and other types
    of control record do not concern transactions.
    """
    header = BatchHeader.read(buffer, position)
    assert header.is_control, "only a control batch has a marker"
    records = read_records(buffer, position, limit_bytes=_SECTION_MAX_BYTES)
    record = next(records, None)
    if record is None:
        return None
    try:
        version, kind = _KEY.unpack_from(record.key or b"")
        if kind not in (_ABORT, _COMMIT):
            return None
        _, coordinator_epoch = _VALUE.unpack_from(record.value or b"")
    except struct.error:
        raise ProtocolError("control record is cut off") from None
    if version < 0:
        raise ProtocolError(f"control record has version {version}")
    return EndMarker(kind == _COMMIT, coordinator_epoch)
