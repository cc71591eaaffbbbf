"""Making a log durable: what has to be synced before its recovery point may move.

The log prepares a `Flush`, a thread runs it, the log is notified that it is done. Only then
does the recovery point move, and a `Flush` that failed takes the volume offline.

After a crash everything from the segment of the recovery point on is scanned and indexed
again, so positions and timestamps of the active segment need not be synced. But a roll may
put the recovery point, where it stands, at the begin of the next segment. So the aborted
transactions are synced with the batches, since nothing would show that they are missing; the
rest of the segment's indexes is with the first flush after the roll.
"""

from typing import NamedTuple

from moldau.log import names
from moldau.log.leader_epochs import FILE_NAME as EPOCHS_FILE
from moldau.log.log import Log
from moldau.log.partition_metadata import FILE_NAME as TOPIC_ID_FILE
from moldau.log.segment import Segment
from moldau.runtime.disk import Disk, File


class Flush(NamedTuple):
    """Files to sync, off the event loop; then everything before `end_offset` is durable."""

    files: list[File]
    directories: list[str]
    end_offset: int
    truncation_count: int
    name_changes: int

    def run(self, disk: Disk) -> None:
        """Sync everything; the first failure is final."""
        for file in self.files:
            file.sync()
        for directory in self.directories:
            disk.sync_directory(directory)


def is_due(log: Log, *, now_ms: int) -> bool:
    """Whether `flush.messages` or `flush.ms` asks for a flush."""
    unflushed_count = log.log_end_offset - log.recovery_point
    if unflushed_count <= 0:
        return False
    if unflushed_count >= log.config.flush_messages:
        return True
    return now_ms - log.flushed_at_ms >= log.config.flush_ms


def prepare(log: Log, end_offset: int | None = None) -> Flush:
    """What to sync so that all before `end_offset` is durable; by default everything.

    After a roll `log.segments.active.base_offset` is enough.
    """
    with log.folder.volume.guard():
        if end_offset is None:
            end_offset = log.log_end_offset
        files: list[File] = []
        for segment in log.segments.since(log.recovery_point - 1):
            if segment is log.segments.active:
                if end_offset > segment.base_offset:
                    files += _active_files(log, segment)
            elif segment.base_offset < end_offset:
                files += _all_files(log, segment)
        files += log.snapshots.files(log.recovery_point, end_offset)
        return _flush(log, files, end_offset)


def complete(log: Log, flush: Flush, *, now_ms: int) -> None:
    """Note that `flush` has run; of no use if the log was cut in the meantime."""
    log.flushed_at_ms = now_ms
    log.synced_name_changes = max(log.synced_name_changes, flush.name_changes)
    if flush.truncation_count == log.truncation_count:
        log.recovery_point = max(log.recovery_point, flush.end_offset)


def fail(log: Log, error: OSError) -> None:
    """Note that a flush has failed: the volume goes offline, nothing is tried again."""
    log.folder.volume.fail(error)


def prepare_close(log: Log) -> Flush:
    """Write all that a start without recovery relies on; nothing may be appended any more."""
    with log.folder.volume.guard():
        if not log.has_changed:
            return _flush(log, [], log.log_end_offset)
        log.segments.active.seal()
        end_offset = log.log_end_offset
        log.snapshots.take(end_offset, log.producers)
        log.note_names_changed()
        files: list[File] = []
        for segment in log.segments.since(log.recovery_point):
            files += _all_files(log, segment)
        files += log.snapshots.files(log.recovery_point - 1, end_offset)
        return _flush(log, files, end_offset)


def _flush(log: Log, files: list[File], end_offset: int) -> Flush:
    directories = []
    if log.epochs.has_unwritten:
        log.epochs.write()
        log.name_changes += 1
    if log.synced_name_changes != log.name_changes:
        files += _small_files(log)
        # The partition's own directory may be new as well.
        directories = [log.folder.path, log.folder.volume.path]
    return Flush(files, directories, end_offset, log.truncation_count, log.name_changes)


def _small_files(log: Log) -> list[File]:
    """What was written without a sync, when the log was made or when its leader changed."""
    disk = log.folder.disk
    paths = [f"{log.folder.path}/{name}" for name in (EPOCHS_FILE, TOPIC_ID_FILE)]
    return [disk.open_read(path) for path in paths if disk.status(path) is not None]


def _active_files(log: Log, segment: Segment) -> list[File]:
    files = [segment.file()]
    if len(segment.indexes.transactions):
        disk, path = log.folder.disk, segment.path(names.TRANSACTION_INDEX)
        is_new = disk.status(path) is None
        segment.write_indexes()
        files.append(disk.open_read(path))
        if is_new:
            log.note_names_changed()
    return files


def _all_files(log: Log, segment: Segment) -> list[File]:
    segment.write_indexes()
    files = [segment.file()]
    for kind in names.INDEX_SUFFIXES:
        path = segment.path(kind)
        if kind != names.TRANSACTION_INDEX or log.folder.disk.status(path) is not None:
            files.append(log.folder.disk.open_read(path))
    return files
