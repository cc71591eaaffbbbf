"""The batches and records of a segment's file as lines."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from moldau.cli.dumping.decoders import Decoder, as_text
from moldau.errors import ProtocolError
from moldau.records.batch import RECORDS_POSITION, BatchHeader, crc_is_valid, read_records
from moldau.records.control import read_end_marker
from moldau.records.record import Record

_LIMIT_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class View:
    """What is to be shown of a segment."""

    is_deep: bool = False
    shows_data: bool = False
    shows_metadata: bool = True
    bytes_max: int | None = None
    decode: Decoder = as_text


@dataclass(slots=True)
class SegmentDump:
    """Walks over the bytes of a segment; what is odd about them is told at the end."""

    data: memoryview
    view: View
    gaps: list[tuple[int, int]] = field(default_factory=list)
    valid_bytes: int = 0
    position: int = 0
    """Where the batch is that was shown last."""

    def lines(self) -> Iterator[str]:
        """A line for each batch, and for each record if that is wanted."""
        last_offset = -1
        limit = len(self.data) if self.view.bytes_max is None else self.view.bytes_max
        for position, header in self._batches():
            if position >= limit:
                return
            self.position = position
            is_valid = crc_is_valid(self.data, position, header.size)
            yield batch_line(header, position, is_valid=is_valid)
            self.valid_bytes += header.size if is_valid else 0
            if not self.view.is_deep:
                continue
            for record in read_records(self.data, position, limit_bytes=_LIMIT_BYTES):
                if last_offset >= 0 and record.offset != last_offset + 1:
                    self.gaps.append((last_offset, record.offset))
                last_offset = record.offset
                yield self._record_line(record, header, position)

    @property
    def invalid_bytes(self) -> int:
        """How many bytes at the end are no batch; of a file that was read as a whole."""
        return 0 if self.view.bytes_max is not None else len(self.data) - self.valid_bytes

    def _batches(self) -> Iterator[tuple[int, BatchHeader]]:
        position = 0
        while position + RECORDS_POSITION <= len(self.data):
            try:
                header = BatchHeader.read(self.data, position)
            except ProtocolError:
                return
            if position + header.size > len(self.data):
                return
            yield position, header
            position += header.size

    def _record_line(self, record: Record, header: BatchHeader, position: int) -> str:
        line = ""
        if self.view.shows_metadata:
            line = f"| {_metadata(record, header)}"
            if header.is_control:
                return f"{line} {_marker(self.data, position)}"
        elif header.is_control:
            return ""
        if not self.view.shows_data:
            return line
        key, value = self.view.decode(record.key, record.value)
        line += "" if key is None else f" key: {key}"
        return line + ("" if value is None else f" payload: {value}")


def batch_line(header: BatchHeader, position: int, *, is_valid: bool) -> str:
    """The header of a batch."""
    horizon = f"[{header.base_timestamp}]" if header.has_delete_horizon else ".empty"
    kind = "LogAppendTime" if header.is_log_append_time else "CreateTime"
    return (
        f"baseOffset: {header.base_offset} lastOffset: {header.last_offset} "
        f"count: {header.record_count} baseSequence: {header.base_sequence} "
        f"lastSequence: {header.last_sequence} producerId: {header.producer_id} "
        f"producerEpoch: {header.producer_epoch} partitionLeaderEpoch: {header.leader_epoch} "
        f"isTransactional: {_flag(header.is_transactional)} isControl: {_flag(header.is_control)} "
        f"deleteHorizonMs: OptionalLong{horizon} position: {position} "
        f"{kind}: {header.max_timestamp} size: {header.size} magic: {header.magic} "
        f"compresscodec: {header.codec.name.lower()} crc: {header.crc} isvalid: {_flag(is_valid)}"
    )


def _metadata(record: Record, header: BatchHeader) -> str:
    kind = "LogAppendTime" if header.is_log_append_time else "CreateTime"
    sequence = -1
    if header.base_sequence >= 0:
        sequence = (header.base_sequence + record.offset - header.base_offset) & 0x7FFFFFFF
    names = ",".join(name.decode(errors="replace") for name, _ in record.headers)
    return (
        f"offset: {record.offset} {kind}: {record.timestamp} keySize: {_size(record.key)} "
        f"valueSize: {_size(record.value)} sequence: {sequence} headerKeys: [{names}]"
    )


def _marker(data: memoryview, position: int) -> str:
    marker = read_end_marker(data, position)
    if marker is None:
        return "controlType: UNKNOWN"
    word = "COMMIT" if marker.is_commit else "ABORT"
    return f"endTxnMarker: {word} coordinatorEpoch: {marker.coordinator_epoch}"


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)
