"""The end of a log, where batches are appended and new segments begun.

This file runs as it stands and is also compiled as `_appending`: a broker spends much of a
small request here; `_appending.pxd` then gives its variables C types.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from moldau.log.producer_state import Batch, KeptBatch
from moldau.log.room import measure
from moldau.log.segment import Segment
from moldau.log.transaction_index import AbortedTransaction
from moldau.model import NO_PRODUCER_ID
from moldau.records.batch import BatchHeader, stamp
from moldau.records.buffers import ReadableBuffer, WritableBuffer

if TYPE_CHECKING:
    from moldau.log.log import Log


class Appended:
    """The answer to an append; offsets are -1 where nothing was given to append."""

    __slots__ = ("first_offset", "has_rolled", "is_duplicate", "last_offset", "max_timestamp")

    def __init__(
        self,
        first_offset: int,
        last_offset: int,
        max_timestamp: int,
        is_duplicate: bool = False,
        has_rolled: bool = False,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.max_timestamp = max_timestamp
        self.is_duplicate = is_duplicate
        self.has_rolled = has_rolled


NOTHING_APPENDED = Appended(-1, -1, -1)


def appended_before(repeated: KeptBatch) -> Appended:
    """The answer to a batch that had been appended already."""
    return Appended(repeated.first_offset, repeated.last_offset, repeated.timestamp, True)


def append_as_leader(
    log: "Log", data: WritableBuffer, batches: Sequence[Batch], leader_epoch: int, now_ms: int
) -> Appended:
    """Give checked batches their offsets and this epoch, and append them."""
    position = 0
    offset = log.segments.end_offset
    for header, _ in batches:
        stamp(data, position, base_offset=offset, leader_epoch=leader_epoch)
        header.base_offset = offset
        header.leader_epoch = leader_epoch
        offset += header.last_offset_delta + 1
        position += header.size
    return append(log, data, batches, now_ms)


def append_batch(
    log: "Log", data: WritableBuffer, header: BatchHeader, leader_epoch: int, now_ms: int
) -> Appended:
    """As leader, append one batch that was checked in every way; `header` is its header."""
    offset = log.segments.end_offset
    stamp(data, 0, base_offset=offset, leader_epoch=leader_epoch)
    header.base_offset = offset
    header.leader_epoch = leader_epoch
    last_offset = offset + header.last_offset_delta
    max_timestamp = header.max_timestamp
    has_rolled = False
    try:
        if _must_roll(log, header.size, last_offset, max_timestamp, now_ms):
            begin_segment(log, offset, now_ms)
            has_rolled = True
        _write(log, data, [(header, None)], [header])
    except OSError as error:
        raise log.folder.volume.fail(error) from error
    return Appended(offset, last_offset, max_timestamp, False, has_rolled)


def append(log: "Log", data: ReadableBuffer, batches: Sequence[Batch], now_ms: int) -> Appended:
    """Append batches that have their offsets and epochs."""
    if not batches:
        return NOTHING_APPENDED
    headers = [header for header, _ in batches]
    max_timestamp = max([header.max_timestamp for header in headers])
    first_offset, last_offset = headers[0].base_offset, headers[-1].last_offset
    has_rolled = False
    try:
        is_too_much = len(data) > log.config.segment_bytes
        if is_too_much or _must_roll(log, len(data), last_offset, max_timestamp, now_ms):
            has_rolled = _write_each(log, data, batches, now_ms)
        else:
            _write(log, data, batches, headers)
    except OSError as error:
        raise log.folder.volume.fail(error) from error
    return Appended(first_offset, last_offset, max_timestamp, False, has_rolled)


def begin_segment(log: "Log", base_offset: int, now_ms: int) -> None:
    """Seal the active segment; another one begins at `base_offset`."""
    log.segments.active.seal()
    log.snapshots.take(base_offset, log.producers)
    log.segments.add(Segment.create(log.folder, base_offset, now_ms=now_ms))
    log.note_names_changed()
    log.draw_roll_jitter()


def _write_each(log: "Log", data: ReadableBuffer, batches: Sequence[Batch], now_ms: int) -> bool:
    """Write batches that do not all fit the active segment; returns whether it rolled."""
    has_rolled = False
    position = 0
    view = memoryview(data)
    for batch in batches:
        header = batch[0]
        if _must_roll(log, header.size, header.last_offset, header.max_timestamp, now_ms):
            begin_segment(log, header.base_offset, now_ms)
            has_rolled = True
        _write(log, view[position : position + header.size], [batch], [header])
        position += header.size
    return has_rolled


def _write(
    log: "Log", data: ReadableBuffer, batches: Sequence[Batch], headers: Sequence[BatchHeader]
) -> None:
    epochs, segments = log.epochs, log.segments
    latest = epochs.latest
    for header in headers:
        if header.leader_epoch >= 0 and (latest is None or header.leader_epoch > latest.epoch):
            epochs.assign(header.leader_epoch, header.base_offset)
            latest = epochs.latest
    log.has_changed = True
    segment = segments.active
    segment.append(data, headers, index_interval_bytes=log.config.index_interval_bytes)
    last = headers[-1]
    segments.end_offset = last.base_offset + last.last_offset_delta + 1
    for header, marker in batches:
        if header.producer_id > NO_PRODUCER_ID:
            ended = log.producers.apply(header, marker)
            if ended is not None and ended.is_aborted:
                segment.add_aborted(AbortedTransaction(*ended[:4]))


def _must_roll(log: "Log", size: int, last_offset: int, max_timestamp: int, now_ms: int) -> bool:
    active, config, room = log.segments.active, log.config, log.room
    if (
        room.config is config
        and room.base_offset == active.base_offset
        and active.size + size <= room.size_max
        and last_offset <= room.offset_max
        and max_timestamp <= room.timestamp_max
    ):
        return False
    if not active.can_hold(last_offset):
        return True
    if active.size == 0:
        return False
    if active.size + size > config.segment_bytes:
        return True
    age_ms = active.age_ms(now_ms=now_ms, timestamp=max_timestamp)
    if age_ms > config.roll_ms - log.roll_jitter_ms:
        return True
    if active.indexes.is_full(config.segment_index_bytes):
        return True
    log.room = measure(active, config, log.roll_jitter_ms)
    return False
