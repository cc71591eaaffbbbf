"""What stays of each batch in compaction.

Runs of plain batches go through the compiled sieve; batches that are compressed, part of a
transaction, or emptied but not to vanish are decided on here, one by one.
"""

from array import array
from dataclasses import replace
from typing import TYPE_CHECKING

from moldau.errors import ProtocolError
from moldau.log.cleaned_file import CleanedFile
from moldau.log.cleaned_transactions import CleanedTransactions
from moldau.log.cleaning_plan import CleaningPlan
from moldau.log.key_map import FULL, MORE, KeyMap
from moldau.model import NO_TIMESTAMP
from moldau.records.batch import (
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BatchHeader,
    assemble_batch,
    crc_is_valid,
    read_records,
    read_section,
)
from moldau.records.compression import compress
from moldau.records.control import read_end_marker
from moldau.records.record import encode_records
from moldau.runtime import native

if TYPE_CHECKING:
    from moldau.log import cleaner_kernel as kernel
else:
    kernel = native.kernel("moldau.log._cleaner_kernel", "moldau.log.cleaner_kernel")

# A batch was decompressed within the produce limits before it was appended, so this bound
# only stops a file that was tampered with.
SECTION_MAX_BYTES = 1 << 30

# How much longer a record can get when its timestamp is counted from a delete horizon.
_RECORD_GROWTH_MAX = 16


class BatchFilter:
    """Copies what stays of the batches it is shown, in the order of the log."""

    def __init__(self, plan: CleaningPlan, keys: KeyMap) -> None:
        self._now_ms = plan.now_ms
        self._horizon_ms = plan.now_ms + plan.delete_retention_ms
        self._last_records = plan.last_records
        self._transactions = CleanedTransactions(plan.aborted)
        kept = {plan.first_uncleanable_offset - 1}
        kept.update(
            last.last_data_offset
            for last in plan.last_records.values()
            if last.last_data_offset is not None
        )
        offsets = memoryview(array("q", sorted(kept)))
        self._sieve = kernel.Sieve(keys, offsets, self._now_ms, self._horizon_ms)

    @property
    def records_read(self) -> int:
        return self._sieve.records_read

    @property
    def records_retained(self) -> int:
        return self._sieve.records_retained

    def copy(self, chunk: memoryview, target: CleanedFile) -> int:
        """Copy what stays of the whole batches in `chunk`; returns how many bytes they were."""
        position = 0
        while True:
            position, why = self._sieve.clean_batches(chunk, position, target.output)
            if why == MORE:
                return position
            header = BatchHeader.read(chunk, position)
            if why == FULL:
                target.make_room(header.size + _RECORD_GROWTH_MAX * header.record_count)
                continue
            batch = chunk[position : position + header.size]
            if header.is_control:
                cleaned = self._clean_control(header, batch, target)
            else:
                cleaned = self._clean_data(header, batch)
            if cleaned is not None:
                self._add(cleaned, target)
            position += header.size

    def _clean_data(self, header: BatchHeader, batch: memoryview) -> memoryview | bytearray | None:
        sieve = self._sieve
        if self._transactions.is_aborted(header):
            return _emptied(header) if sieve.is_kept(header.last_offset) else None
        section = memoryview(read_section(batch, 0, header, limit_bytes=SECTION_MAX_BYTES))
        sieve.select(batch, section)
        if sieve.retained_count == 0:
            return _emptied(header) if sieve.is_kept(header.last_offset) else None
        needs_horizon = sieve.needs_horizon(header.attributes)
        if sieve.retained_count == header.record_count and not needs_horizon:
            return batch
        require_intact(header, batch)
        return self._rebuilt(header, section, needs_horizon=needs_horizon)

    def _rebuilt(
        self, header: BatchHeader, section: memoryview, *, needs_horizon: bool
    ) -> bytearray:
        """The batch with the selected records, in the codec it had."""
        sieve = self._sieve
        timestamp_shift = 0
        cleaned = replace(header, record_count=sieve.retained_count)
        if needs_horizon:
            timestamp_shift = header.base_timestamp - self._horizon_ms
            cleaned.base_timestamp = self._horizon_ms
            cleaned.attributes |= DELETE_HORIZON
        if not header.is_log_append_time:
            cleaned.max_timestamp = sieve.max_timestamp
        records = bytearray(len(section) + _RECORD_GROWTH_MAX * sieve.retained_count)
        size = sieve.copy_selected(section, timestamp_shift, memoryview(records))
        return assemble_batch(cleaned, compress(header.codec, memoryview(records)[:size]))

    def _clean_control(
        self, header: BatchHeader, batch: memoryview, target: CleanedFile
    ) -> memoryview | bytearray | None:
        fate = self._transactions.end(header, read_end_marker(batch))
        if fate.still_aborted is not None:
            target.add_aborted(fate.still_aborted)
        if not fate.may_go:
            return batch
        if header.record_count and not header.has_delete_horizon:
            require_intact(header, batch)
            return self._with_horizon(header, batch)
        if header.record_count and self._now_ms < header.base_timestamp:
            return batch
        return _emptied(header) if self._is_kept_marker(header) else None

    def _with_horizon(self, header: BatchHeader, batch: memoryview) -> bytearray:
        """A marker that nothing needs any more, with the time at which it goes."""
        section = encode_records(
            read_records(batch, limit_bytes=SECTION_MAX_BYTES),
            base_offset=header.base_offset,
            base_timestamp=self._horizon_ms,
        )
        attributes = header.attributes | DELETE_HORIZON
        cleaned = replace(header, attributes=attributes, base_timestamp=self._horizon_ms)
        return assemble_batch(cleaned, section)

    def _is_kept_marker(self, header: BatchHeader) -> bool:
        """Whether a marker must stay: as the end of what is cleaned, or for a producer's epoch."""
        if self._sieve.is_kept(header.last_offset):
            return True
        last = self._last_records.get(header.producer_id)
        return (
            last is not None
            and last.last_data_offset is None
            and last.epoch == header.producer_epoch
        )

    def _add(self, batch: memoryview | bytearray, target: CleanedFile) -> None:
        if not target.output.has_room(len(batch)):
            target.make_room(len(batch))
        header = BatchHeader.read(batch)
        target.output.add(memoryview(batch), header.last_offset, header.max_timestamp)


def require_intact(header: BatchHeader, batch: memoryview) -> None:
    """Refuse a damaged batch: its keys cannot be trusted, and cleaned it would pass for good."""
    if not crc_is_valid(batch, 0, header.size):
        raise ProtocolError(f"the batch at offset {header.base_offset} has a wrong checksum")


def _emptied(header: BatchHeader) -> bytearray:
    """The batch without records, as the trace of its producer or of its offsets."""
    kept = header.attributes & (LOG_APPEND_TIME | TRANSACTIONAL | CONTROL)
    empty = replace(header, attributes=kept, base_timestamp=NO_TIMESTAMP, record_count=0)
    return assemble_batch(empty, b"")
