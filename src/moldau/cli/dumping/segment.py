"""The batches and records of a segment's file as lines."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from moldau.cli.dumping.decoders import Decoder, as_text
from moldau.cli.dumping.messages import message_is_valid, message_line, messages_of
from moldau.errors import KafkaError, ProtocolError
from moldau.records.batch import BatchHeader, crc_is_valid, read_records
from moldau.records.control import read_end_marker
from moldau.records.entries import MAGIC_MAX, BatchEntry, iterate_entries
from moldau.records.record import Record

_LIMIT_BYTES = 1 << 30
Line = tuple[Record | None, str]
"""A line, and the record that it is about if it is about one."""


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
    """Walks over the bytes of a segment; what is odd about them is printed at the end."""

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
        for entry in self._entries():
            if entry.position >= limit:
                return
            self.position = entry.position
            lines = self._batch_lines if entry.magic == MAGIC_MAX else self._message_lines
            for record, line in lines(entry):
                yield line
                if record is None:
                    continue
                if last_offset >= 0 and record.offset != last_offset + 1:
                    self.gaps.append((last_offset, record.offset))
                last_offset = record.offset

    @property
    def invalid_bytes(self) -> int:
        """How many bytes at the end are no batch; of a file that was read as a whole."""
        return 0 if self.view.bytes_max is not None else len(self.data) - self.valid_bytes

    def _entries(self) -> Iterator[BatchEntry]:
        try:
            yield from iterate_entries(self.data)
        except KafkaError:
            return  # where the next batch begins is unknown

    def _batch_lines(self, entry: BatchEntry) -> Iterator[Line]:
        position = entry.position
        try:
            header = BatchHeader.read(self.data, position)
        except ProtocolError:
            return
        is_valid = crc_is_valid(self.data, position, header.size)
        yield None, batch_line(header, position, is_valid=is_valid)
        self.valid_bytes += header.size if is_valid else 0
        if not self.view.is_deep:
            return
        for record in read_records(self.data, position, limit_bytes=_LIMIT_BYTES):
            if header.is_control:
                shown = f"| {_metadata(record, header)} {_marker(self.data, position)}"
                yield record, shown if self.view.shows_metadata else ""
            else:
                yield record, self._record_line(record, _metadata(record, header))

    def _message_lines(self, entry: BatchEntry) -> Iterator[Line]:
        data = self.data[entry.position : entry.position + entry.size]
        is_valid = message_is_valid(data)
        yield None, message_line(data, entry, is_valid=is_valid)
        if not is_valid:
            return
        self.valid_bytes += entry.size
        if self.view.is_deep:
            for record, metadata in messages_of(data, limit_bytes=_LIMIT_BYTES):
                yield record, self._record_line(record, metadata)

    def _record_line(self, record: Record, metadata: str) -> str:
        line = f"| {metadata}" if self.view.shows_metadata else ""
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
