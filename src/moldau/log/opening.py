"""Creating a partition's log, and opening it again."""

import logging
from dataclasses import dataclass

from moldau.config.topic import TopicConfig
from moldau.log import leader_epochs, leftovers, names, partition_metadata, recovery
from moldau.log.checkpoint import CheckpointError
from moldau.log.index import CorruptIndex
from moldau.log.leader_epochs import LeaderEpochs
from moldau.log.log import Log
from moldau.log.segment import Segment
from moldau.log.segments import Segments
from moldau.log.shared import Shared
from moldau.log.snapshots import Snapshots
from moldau.log.transaction_index import TransactionIndex
from moldau.log.volume import Folder
from moldau.runtime.disk import DirectoryEntry

_log = logging.getLogger(__name__)

_Files = dict[str, DirectoryEntry]


@dataclass(frozen=True, slots=True)
class Remembered:
    """What the files of the log directory say about one of its logs."""

    log_start_offset: int = 0
    # None if it is unknown up to where the log was flushed.
    recovery_point: int | None = None
    high_watermark: int = 0
    was_closed_cleanly: bool = False


def create(
    folder: Folder,
    config: TopicConfig,
    shared: Shared,
    *,
    now_ms: int,
    topic_id: bytes | None = None,
) -> Log:
    """Make an empty log in a directory of its own."""
    with folder.volume.guard():
        folder.disk.make_directory(folder.path)
        segment = Segment.create(folder, 0, now_ms=now_ms)
        log = Log(folder, config, Segments([segment], end_offset=0), shared)
        log.flushed_at_ms = now_ms
        if topic_id is not None:
            path = f"{folder.path}/{partition_metadata.FILE_NAME}"
            # Durable with the first flush; until then there is nothing to lose.
            partition_metadata.write(folder.disk, path, topic_id, is_durable=False)
            log.topic_id = topic_id
        return log


def open_log(
    folder: Folder, config: TopicConfig, shared: Shared, *, remembered: Remembered, now_ms: int
) -> Log:
    """Open the log in a directory; without a clean stop before, recover it first."""
    with folder.volume.guard():
        files = leftovers.settle(folder)
        segments = _find_segments(folder, files, remembered, now_ms)
        log = Log(folder, config, segments, shared)
        log.flushed_at_ms = now_ms
        log.log_start_offset = max(log.log_start_offset, remembered.log_start_offset)
        log.recovery_point = remembered.recovery_point or 0
        log.topic_id = _read_topic_id(folder, files)
        log.snapshots = _find_snapshots(folder, files)
        log.snapshots.remove(_outdated(log))
        _read_epochs(log, files, remembered)
        _repair_indexes(log, files, remembered, now_ms)
        if remembered.was_closed_cleanly:
            segments.end_offset = segments.active.next_offset()
            log.recovery_point = segments.end_offset
            log.has_changed = segments.end_offset not in log.snapshots
            log.synced_name_changes = log.name_changes
            log.rebuild_producers(now_ms=now_ms)
        else:
            recovery.recover(log, flushed_to=remembered.recovery_point, now_ms=now_ms)
        _bound(log, remembered, now_ms)
        return log


def _find_segments(folder: Folder, files: _Files, remembered: Remembered, now_ms: int) -> Segments:
    found = []
    for name, entry in files.items():
        offset = names.offset_of(name)
        if offset is not None and name.endswith(names.LOG):
            found.append(Segment(folder, offset, size=entry.size, created_ms=entry.modified_ms))
    if not found:
        found = [Segment.create(folder, remembered.log_start_offset, now_ms=now_ms)]
    found.sort(key=lambda segment: segment.base_offset)
    return Segments(found, end_offset=found[-1].base_offset)


def _find_snapshots(folder: Folder, files: _Files) -> Snapshots:
    offsets = (names.offset_of(name) for name in files if name.endswith(names.SNAPSHOT))
    return Snapshots(folder, [offset for offset in offsets if offset is not None])


def _outdated(log: Log) -> list[int]:
    """The snapshots of no segment, save those at the end, which is not known yet."""
    strays = log.snapshots.strays(log.segments.base_offsets)
    return [offset for offset in strays if offset < log.segments.active.base_offset]


def _read_topic_id(folder: Folder, files: _Files) -> bytes | None:
    if partition_metadata.FILE_NAME not in files:
        return None
    path = f"{folder.path}/{partition_metadata.FILE_NAME}"
    try:
        return partition_metadata.read(folder.disk, path)
    except CheckpointError as error:
        _log.warning("Failed to read %s: %s", path, error)
        return None


def _read_epochs(log: Log, files: _Files, remembered: Remembered) -> None:
    if leader_epochs.FILE_NAME not in files:
        return
    if files[leader_epochs.FILE_NAME].size == 0 and log.size == 0:
        return  # Apache makes the file with the log, and writes it with the first record.
    path = f"{log.folder.path}/{leader_epochs.FILE_NAME}"
    try:
        log.epochs = LeaderEpochs.load(log.folder.disk, path)
    except CheckpointError as error:
        _log.warning("Failed to read %s, rebuilding it: %s", path, error)
        recovery.rebuild_epochs(log, _intact(log, remembered))


def _repair_indexes(log: Log, files: _Files, remembered: Remembered, now_ms: int) -> None:
    """Rebuild what is missing or shows aborted records; recovery does it with the rest.

    A segment without aborted transactions has no transaction index. So where the other
    indexes are gone, it is unknown whether there was one.
    """
    for segment in _intact(log, remembered):
        missing = [
            kind
            for kind in names.INDEX_SUFFIXES
            if names.segment_file(segment.base_offset, kind) not in files
        ]
        if names.OFFSET_INDEX in missing or names.TIME_INDEX in missing:
            _log.warning(
                "Rebuilding indexes of %s: no %s", segment.path(names.LOG), " and ".join(missing)
            )
            recovery.rebuild_indexes(log, segment, now_ms=now_ms)
        elif names.TRANSACTION_INDEX not in missing:
            path = segment.path(names.TRANSACTION_INDEX)
            try:
                TransactionIndex(segment.base_offset, log.folder.disk.read_file(path))
            except CorruptIndex as error:
                _log.warning("Failed to read %s, rebuilding it: %s", path, error)
                recovery.rebuild_transactions(log, segment, now_ms=now_ms)


def _intact(log: Log, remembered: Remembered) -> list[Segment]:
    """The segments that recovery does not read; the others may end in the middle of a batch."""
    segments = list(log.segments)
    if remembered.was_closed_cleanly:
        return segments
    return segments[: segments.index(log.segments.since(log.recovery_point)[0])]


def _bound(log: Log, remembered: Remembered, now_ms: int) -> None:
    """Bring the bounds of the log into order, now that its end is known."""
    if log.log_end_offset < log.log_start_offset:
        # Files were taken away, or lost: what is left is of no use.
        _log.warning(
            "%s ends at %d, before its start at %d: deleting all segments",
            log.partition,
            log.log_end_offset,
            log.log_start_offset,
        )
        log.truncate_fully_and_start_at(log.log_start_offset, now_ms=now_ms)
    log.snapshots.remove(log.snapshots.after(log.log_end_offset))
    log.snapshots.remove(log.snapshots.strays(log.segments.base_offsets))
    # An epoch that begins at the end stays: its leader may be the next one as well.
    log.epochs.truncate_from_end(log.log_end_offset + 1)
    log.epochs.truncate_from_start(log.log_start_offset)
    log.recovery_point = min(log.recovery_point, log.log_end_offset)
    log.high_watermark = log.log_start_offset
    log.raise_high_watermark(remembered.high_watermark)
