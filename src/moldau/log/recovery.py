"""Reading a log again after an unclean stop, to keep exactly what is intact.

Every batch from the segment of the recovery point on is checked: its checksum, its
offsets, its size. The log ends before the first bad one. On the way the indexes, the
leader epochs and the producer table are built anew.
"""

import logging
import zlib
from struct import Struct

from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.log import names, replay
from moldau.log.log import Log
from moldau.log.producer_state import Batch, Producers
from moldau.log.segment import Segment
from moldau.log.transaction_index import AbortedTransaction, TransactionIndex
from moldau.records.batch import BatchHeader, crc_is_valid
from moldau.records.control import EndMarker, read_end_marker
from moldau.runtime.disk import write_atomically

_log = logging.getLogger(__name__)

# Offset, size of what follows, CRC-32 of what follows it, magic.
_OLD_PREFIX = Struct(">qiIb")
_OLD_SIZE_MIN = 14

_BEHIND_ALL = 2**63 - 1


def recover(log: Log, *, now_ms: int) -> None:
    """Check the log from its recovery point on and cut it at the first bad batch."""
    unflushed = log.segments.since(log.recovery_point)
    log.segments.end_offset = unflushed[0].base_offset
    log.rebuild_producers(now_ms=now_ms)
    for number, segment in enumerate(unflushed):
        if number:
            if not _follows(segment, log):
                _drop_after(log, unflushed[number - 1], now_ms)
                break
            log.segments.end_offset = segment.base_offset
            log.snapshots.take(segment.base_offset, log.producers)
        if not _recover_segment(log, segment):
            _drop_after(log, segment, now_ms)
            break
        log.folder.volume.forget(segment)


def rebuild_epochs(log: Log) -> None:
    """Find the leader epochs in the batches themselves, for want of their file."""
    for segment in log.segments:
        for _, header in segment.headers():
            _note_epoch(log, header)


def rebuild_transactions(log: Log, segment: Segment, *, now_ms: int) -> None:
    """Write the transaction index of a segment anew, from the batches and markers."""
    producers = Producers()
    start_offset = replay.restore(
        producers,
        log.snapshots,
        bounds=(log.log_start_offset, segment.base_offset),
        now_ms=now_ms,
        expiration_ms=2**63,  # nobody is left out: who was silent may have aborted here
    )
    replay.apply_batches(
        producers, log.segments, start_offset=start_offset, end_offset=segment.base_offset
    )
    index = TransactionIndex(segment.base_offset)
    for position, header in segment.headers():
        marker = None
        if header.is_control:
            marker = read_end_marker(segment.file().read(position, header.size))
        ended = producers.apply(header, marker)
        if ended is not None and ended.is_aborted:
            index.append(AbortedTransaction(*ended[:4]))
    write_atomically(log.folder.disk, segment.path(names.TRANSACTION_INDEX), index.take_unwritten())


def _follows(segment: Segment, log: Log) -> bool:
    """Whether `segment` continues the log.

    A hole before it means that a power loss took the end of the segment before, which was
    not flushed. Only compaction leaves holes of its own.
    """
    if log.config.is_compacted:
        return segment.base_offset >= log.segments.end_offset
    return segment.base_offset == log.segments.end_offset


def _recover_segment(log: Log, segment: Segment) -> bool:
    """Check and index one segment; False if it had to be cut.

    The log's end offset and producers are those at its start, and at its end afterwards.
    """
    segment.reset_indexes()
    end_position = 0
    is_last = segment is log.segments.active
    limit_offset = _BEHIND_ALL if is_last else log.segments.end_of(segment)
    try:
        for position, header, batch in segment.batches():
            bounds = log.segments.end_offset, limit_offset
            marker = _checked(segment, bounds, header, batch)
            _take_in(log, segment, position, (header, marker))
            end_position = position + header.size
    except ProtocolError as error:
        path = segment.path(names.LOG)
        if _is_of_older_format(segment, end_position):
            # What is there is good, only not for us: cutting it off would destroy it.
            message = f"{path}: batch of an older format at {end_position}"
            raise KafkaError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, message) from error
        _log.warning("cutting %s at %d of %d: %s", path, end_position, segment.size, error)
        segment.cut(end_position)
        segment.seal()
        return False
    segment.seal()
    return True


def _is_of_older_format(segment: Segment, position: int) -> bool:
    """Whether an intact message of format version 0 or 1 is at `position`."""
    prefix = segment.file().read(position, _OLD_PREFIX.size)
    if len(prefix) < _OLD_PREFIX.size:
        return False
    _offset, size, checksum, magic = _OLD_PREFIX.unpack(prefix)
    if magic not in (0, 1) or not _OLD_SIZE_MIN <= size <= segment.size - position - 12:
        return False
    return bool(zlib.crc32(segment.file().read(position + 16, size - 4)) == checksum)


def _checked(
    segment: Segment, bounds: tuple[int, int], header: BatchHeader, batch: memoryview
) -> EndMarker | None:
    """Raise ProtocolError unless this may be the next batch; returns its marker.

    No checksum covers the base offset, so that a bit flipped there shows only when the
    batch skips offsets and ends behind `bounds`, in the next segment.
    """
    end_offset, limit_offset = bounds
    if not crc_is_valid(batch, 0, header.size):
        raise ProtocolError(f"the checksum of the batch at offset {header.base_offset} is wrong")
    if header.base_offset < end_offset:
        raise ProtocolError(f"a batch at offset {header.base_offset} follows {end_offset - 1}")
    is_flipped = header.base_offset > end_offset and header.last_offset >= limit_offset
    is_in_range = header.last_offset_delta >= 0 and segment.can_hold(header.last_offset)
    if is_flipped or not is_in_range:
        raise ProtocolError(f"a batch at {header.base_offset} ends at {header.last_offset}")
    return read_end_marker(batch) if header.is_control else None


def _take_in(log: Log, segment: Segment, position: int, batch: Batch) -> None:
    header, marker = batch
    segment.index(position, header, interval_bytes=log.config.index_interval_bytes)
    _note_epoch(log, header)
    if header.has_producer:
        ended = log.producers.apply(header, marker)
        if ended is not None and ended.is_aborted:
            segment.add_aborted(AbortedTransaction(*ended[:4]))
    log.segments.end_offset = header.base_offset + header.last_offset_delta + 1


def _note_epoch(log: Log, header: BatchHeader) -> None:
    latest = log.epochs.latest
    if header.leader_epoch >= 0 and (latest is None or header.leader_epoch > latest.epoch):
        log.epochs.assign(header.leader_epoch, header.base_offset)


def _drop_after(log: Log, segment: Segment, now_ms: int) -> None:
    while log.segments.active is not segment:
        dropped = log.segments.remove_last()
        _log.warning("dropping %s behind the cut", dropped.path(names.LOG))
        log.doom([dropped], now_ms=now_ms)
