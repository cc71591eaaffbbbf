"""Reading a log again after an unclean stop, to keep exactly what is intact.

Every batch from the segment of the recovery point on is checked: its checksum, its
offsets, its size. The log ends before the first bad one. On the way the indexes, the
leader epochs and the producer table are built anew.
"""

import logging
import zlib
from collections.abc import Iterable
from struct import Struct

from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.log import names, replay
from moldau.log.log import Log
from moldau.log.producer_state import Batch, Producers
from moldau.log.segment import Segment
from moldau.log.transaction_index import AbortedTransaction, TransactionIndex
from moldau.records.batch import RECORDS_POSITION, BatchHeader, crc_is_valid
from moldau.records.control import EndMarker, read_end_marker
from moldau.runtime.disk import write_atomically

_log = logging.getLogger(__name__)

# Offset, size of what follows, CRC-32 of what follows it, magic.
_OLD_PREFIX = Struct(">qiIb")
_OLD_SIZE_MIN = 14

# A follower that was cut in the middle of a batch goes on behind it: more is not plausible.
_SKIPPED_MAX = 2**20


def recover(log: Log, *, flushed_to: int | None, now_ms: int) -> None:
    """Check the log from its recovery point on and cut it at the first bad batch.

    `flushed_to` is the recovery point as it was written down, None if it was not.
    """
    unflushed = log.segments.since(log.recovery_point)
    log.segments.end_offset = unflushed[0].base_offset
    log.rebuild_producers(now_ms=now_ms)
    for number, segment in enumerate(unflushed):
        if number:
            if not _follows(segment, log, flushed_to):
                _drop_after(log, unflushed[number - 1], now_ms)
                break
            log.segments.end_offset = segment.base_offset
            log.snapshots.take(segment.base_offset, log.producers)
        if not _recover_segment(log, segment):
            _drop_after(log, segment, now_ms)
            break
        log.folder.volume.forget(segment)
    log.expire_producers(now_ms=now_ms)


def rebuild_epochs(log: Log, segments: Iterable[Segment]) -> None:
    """Find the leader epochs in the batches themselves, for want of their file."""
    for segment in segments:
        for _, header in segment.headers():
            _note_epoch(log, header)


def rebuild_indexes(log: Log, segment: Segment, *, now_ms: int) -> None:
    """Write all indexes of a segment anew, durably.

    The transaction index first: that the others are missing is what it is rebuilt for.
    """
    rebuild_transactions(log, segment, now_ms=now_ms)
    segment.reindex(interval_bytes=log.config.index_interval_bytes)
    segment.seal()
    for kind in (names.OFFSET_INDEX, names.TIME_INDEX):
        log.folder.disk.open_read(segment.path(kind)).sync()
    log.folder.disk.sync_directory(log.folder.path)


def rebuild_transactions(log: Log, segment: Segment, *, now_ms: int) -> None:
    """Write the transaction index of a segment anew, from the batches and markers."""
    producers = Producers()
    start_offset = replay.restore(
        producers,
        log.snapshots,
        bounds=(log.log_start_offset, segment.base_offset),
        now_ms=now_ms,
        expiration_ms=2**63,  # all of them: an idle producer may have aborted here
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
    path = segment.path(names.TRANSACTION_INDEX)
    if len(index) or log.folder.disk.status(path) is not None:
        write_atomically(log.folder.disk, path, index.take_unwritten())


def _follows(segment: Segment, log: Log, flushed_to: int | None) -> bool:
    """Whether `segment` continues the log.

    Behind the recovery point a hole means that a power loss took the end of the segment
    before. Any other hole is from compaction, also where the topic is not compacted any
    more or its settings are not known, or the cause is unknown: then what follows it is kept,
    as Apache does.
    """
    end_offset = log.segments.end_offset
    if segment.base_offset <= end_offset:
        return segment.base_offset == end_offset
    return log.config.may_have_holes or flushed_to is None or end_offset < flushed_to


def _recover_segment(log: Log, segment: Segment) -> bool:
    """Check and index one segment; False if it had to be cut.

    The log's end offset and producers are those at its start, and at its end afterwards.
    """
    segment.reset_indexes()
    end_position = 0
    try:
        for position, header, batch in segment.batches():
            if header.base_offset > log.segments.end_offset:
                _check_skip(log, segment, position, header)
            marker = _checked(segment, log.segments.end_offset, header, batch)
            _take_in(log, segment, position, (header, marker))
            end_position = position + header.size
    except ProtocolError as error:
        path = segment.path(names.LOG)
        if _is_of_older_format(segment, end_position):
            # What is there is good, only not for us: cutting it off would destroy it.
            message = (
                f"{path} holds messages of a format from before Kafka 0.11, at {end_position}, "
                "which are not read here; copy the topic to a new one with a broker that does, "
                "such as Apache Kafka 3.9, or remove the directory"
            )
            raise KafkaError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, message) from error
        _log.warning("Truncating %s to %d of %d bytes: %s", path, end_position, segment.size, error)
        segment.cut(end_position)
        # It may end at the recovery point: nobody looks at it again once another has begun.
        segment.file().sync()
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


def _check_skip(log: Log, segment: Segment, position: int, header: BatchHeader) -> None:
    """Raise ProtocolError if a batch skips offsets because a bit of its base offset flipped.

    No checksum covers it. But then the batch ends in the next segment, or the batch behind
    it goes on where this one should have been; or the log, which has no reason to skip many
    offsets in the segment that was never compacted, would end far behind its records.
    """
    end_offset = log.segments.end_offset
    if segment is log.segments.active:
        skipped = header.base_offset - end_offset
        is_flipped = skipped > _SKIPPED_MAX and not log.config.may_have_holes
    else:
        is_flipped = header.last_offset >= log.segments.end_of(segment)
    following = _offset_at(segment, position + header.size)
    right_end = end_offset + header.last_offset_delta + 1
    if is_flipped or (following is not None and right_end <= following < header.next_offset):
        raise ProtocolError(f"a batch at {header.base_offset} follows {end_offset - 1}")


def _offset_at(segment: Segment, position: int) -> int | None:
    """The base offset of the batch at `position`, if one is there."""
    try:
        return BatchHeader.read(segment.file().read(position, RECORDS_POSITION)).base_offset
    except ProtocolError:
        return None


def _checked(
    segment: Segment, end_offset: int, header: BatchHeader, batch: memoryview
) -> EndMarker | None:
    """Raise ProtocolError unless this may be the next batch; returns its marker."""
    if not crc_is_valid(batch, 0, header.size):
        raise ProtocolError(f"the checksum of the batch at offset {header.base_offset} is wrong")
    if header.base_offset < end_offset:
        raise ProtocolError(f"a batch at offset {header.base_offset} follows {end_offset - 1}")
    if header.last_offset_delta < 0 or not segment.can_hold(header.last_offset):
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
    """Let the batch correct the epochs: of what was not flushed their file may be out of date.

    Where they agree the file knows more: compaction may have taken an epoch's first batch.
    """
    epochs, epoch = log.epochs, header.leader_epoch
    if epoch < 0 or epochs.epoch_at(header.base_offset) == epoch:
        return
    epochs.truncate_from_end(header.base_offset)
    if epochs.latest is None or epoch > epochs.latest.epoch:
        epochs.assign(epoch, header.base_offset)


def _drop_after(log: Log, segment: Segment, now_ms: int) -> None:
    while log.segments.active is not segment:
        dropped = log.segments.remove_last()
        _log.warning("Deleting %s: it follows a truncated segment", dropped.path(names.LOG))
        log.doom([dropped], now_ms=now_ms)
