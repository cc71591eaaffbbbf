"""One log directory: the logs in it, and the files that say how they were left.

It belongs to one broker of one cluster (`meta.properties`) and to one process at a time
(`.lock`). A clean stop leaves `.kafka_cleanshutdown` behind, which is removed, durably,
before the first log may change again: with it nothing is scanned at the next start.

A disk call that fails takes the whole directory offline. A log that cannot be parsed
is set aside alone: its files are left as they are, what the checkpoints say of it stays,
and no clean stop is claimed as long as it is there.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

from moldau.config.topic import TopicConfig
from moldau.errors import ErrorCode, KafkaError, KafkaStorageError, ProtocolError
from moldau.log import checkpoint, flush, leader_epochs, meta_properties, names, opening
from moldau.log.checkpoint import CheckpointError
from moldau.log.log import Log
from moldau.log.meta_properties import MetaProperties
from moldau.log.opening import Remembered
from moldau.log.shared import Shared
from moldau.log.volume import Folder, Volume
from moldau.model import TopicPartition
from moldau.runtime.disk import Disk, File, write_atomically

_log = logging.getLogger(__name__)

LOCK = ".lock"
CLEAN_STOP = ".kafka_cleanshutdown"
_CLEAN_STOP_TEXT = b'{"version":0,"brokerEpoch":-1}'
_BEHIND_ALL = 2**63 - 1
# How many logs at a time have all their files open while the directory is closed.
_CLOSED_TOGETHER = 64

Work = Callable[[], None]


class NotOurs(Exception):
    """A log directory that another broker, cluster or process owns."""


class SetAside(NamedTuple):
    """A log that could not be opened, and what to know about it once it can be."""

    reason: Exception
    remembered: Remembered


def one_by_one(works: Iterable[Work]) -> None:
    """Do one piece of work after the other."""
    for work in works:
        work()


class LogDirectory:
    """The logs of one volume by partition; `load` finds them, `close` leaves them clean."""

    def __init__(self, volume: Volume, shared: Shared) -> None:
        self.volume = volume
        self.logs: dict[TopicPartition, Log] = {}
        self.set_aside: dict[TopicPartition, SetAside] = {}
        """Logs that cannot be opened; nothing is done to their files."""
        self.futures: dict[TopicPartition, Log] = {}
        """Copies that will take the place of logs in other directories."""
        self.interrupted: list[TopicPartition] = []
        """Partitions whose copies were not complete when the broker stopped."""
        self.doomed: list[tuple[int, str]] = []
        self._disk = volume.disk
        self.shared = replace(shared, save_recovery_points=self.save_recovery_points)
        self.is_known_to_owner = False
        """Whether it is claimed, and an earlier life of the same broker has used it."""
        self._lock: File | None = None
        self._is_loaded = False

    # Starting

    def claim(self, owner: MetaProperties) -> None:
        """Make the directory ours, or raise NotOurs."""
        path = self._path(meta_properties.FILE_NAME)
        with self.volume.guard():
            self._disk.make_directory(self.volume.path)
            try:
                self._lock = self._disk.lock(self._path(LOCK))
            except BlockingIOError as error:
                raise NotOurs(f"{self.volume.path} is in use by another process") from error
            found = meta_properties.read(self._disk, path)
            if found is None or found.cluster_id is None:
                meta_properties.write(self._disk, path, owner)
        if found is not None and found.broker_id != owner.broker_id:
            raise NotOurs(f"{path} is of broker {found.broker_id}, this is {owner.broker_id}")
        if found is not None and found.cluster_id not in (None, owner.cluster_id):
            raise NotOurs(f"{path} is of cluster {found.cluster_id}, not {owner.cluster_id}")
        self.is_known_to_owner = found == owner

    def load(
        self, config_of: Callable[[TopicPartition], TopicConfig], *, now_ms: int
    ) -> Iterator[Log]:
        """Open one log after the other; between two of them other work may be done."""
        with self.volume.guard():
            entries = self._disk.list_directory(self.volume.path)
            was_clean = any(entry.name == CLEAN_STOP for entry in entries)
            recovery_points = self._read_offsets(checkpoint.RECOVERY_POINTS)
            high_watermarks = self._read_offsets(checkpoint.HIGH_WATERMARKS)
            log_starts = self._read_offsets(checkpoint.LOG_START_OFFSETS)
        for entry in entries:
            if not entry.is_directory:
                continue
            if entry.name.endswith(names.DELETE_DIRECTORY):
                self.doomed.append((now_ms, self._path(entry.name)))
                continue
            if entry.name.endswith(names.FUTURE_DIRECTORY):
                self._note_interrupted(entry.name, now_ms)
                continue
            partition = names.partition_of(entry.name)
            if partition is None:
                continue
            remembered = Remembered(
                log_start_offset=log_starts.get(partition, 0),
                recovery_point=recovery_points.get(partition),
                high_watermark=high_watermarks.get(partition, 0),
                was_closed_cleanly=was_clean,
            )
            try:
                log = self._open(partition, config_of(partition), remembered, now_ms)
            except KafkaStorageError:
                raise
            except (KafkaError, ProtocolError) as error:
                _log.error("Failed to load %s, its files are kept: %s", partition, error)
                self.set_aside[partition] = SetAside(error, remembered)
                continue
            self.logs[partition] = log
            yield log
        self._is_loaded = True
        with self.volume.guard():
            self.save_recovery_points()
            self._disk.remove(self._path(CLEAN_STOP))
            self._disk.sync_directory(self.volume.path)

    def _note_interrupted(self, name: str, now_ms: int) -> None:
        """A copy is not gone on with: it is made anew."""
        self.doomed.append((now_ms, self._path(name)))
        partition = names.future_partition_of(name)
        if partition is not None:
            self.interrupted.append(partition)

    def _open(
        self, partition: TopicPartition, config: TopicConfig, remembered: Remembered, now_ms: int
    ) -> Log:
        folder = Folder(self.volume, partition)
        try:
            return opening.open_log(
                folder, config, self.shared, remembered=remembered, now_ms=now_ms
            )
        except (KafkaError, ProtocolError) as error:
            is_damage = isinstance(error, ProtocolError) or error.code == ErrorCode.CORRUPT_MESSAGE
            if not is_damage or not remembered.was_closed_cleanly:
                raise
            _log.warning("Failed to open %s, checking all of it: %s", folder.path, error)
        # Only the end of the last segment was looked at, so only that is checked again.
        remembered = Remembered(remembered.log_start_offset, _BEHIND_ALL, remembered.high_watermark)
        return opening.open_log(folder, config, self.shared, remembered=remembered, now_ms=now_ms)

    # Running

    def create(
        self,
        partition: TopicPartition,
        config: TopicConfig,
        *,
        now_ms: int,
        topic_id: bytes | None = None,
    ) -> Log:
        """Make an empty log for a partition that has none here."""
        assert partition not in self.logs
        folder = Folder(self.volume, partition)
        log = opening.create(folder, config, self.shared, now_ms=now_ms, topic_id=topic_id)
        self.logs[partition] = log
        return log

    def delete(self, partition: TopicPartition, *, unique: str, now_ms: int) -> None:
        """Take a log out at once; its files go later. `unique` is 32 hex digits."""
        doomed = self._path(names.doomed_directory(partition, unique))
        if partition in self.set_aside:
            self._doom(self._path(str(partition)), doomed)
            del self.set_aside[partition]
            self.doomed.append((now_ms, doomed))
            return
        log = self.logs[partition]
        self._doom(log.folder.path, doomed)
        del self.logs[partition]
        for segment in log.segments:
            self.volume.forget(segment)
        log.folder.path = doomed
        self.doomed.append((now_ms + log.config.file_delete_delay_ms, doomed))

    def _doom(self, path: str, doomed: str) -> None:
        with self.volume.guard():
            self._disk.rename(path, doomed)
            # No request names it again once it is reported as deleted: it must not come back.
            self._disk.sync_directory(self.volume.path)

    def begin_future(
        self, partition: TopicPartition, original: Log, *, unique: str, now_ms: int
    ) -> Log:
        """Make an empty log for a copy of one in another directory."""
        assert partition not in self.logs
        folder = Folder(self.volume, partition)
        folder.path = self._path(names.future_directory(partition, unique))
        copy = opening.create(
            folder, original.config, self.shared, now_ms=now_ms, topic_id=original.topic_id
        )
        self.futures[partition] = copy
        return copy

    def finish_future(self, partition: TopicPartition) -> Log:
        """Make a copy the partition's log, durably."""
        copy = self.futures.pop(partition)
        path = self._path(str(partition))
        with self.volume.guard():
            self._disk.rename(copy.folder.path, path)
            copy.folder.path = path
            copy.epochs.move_to(f"{path}/{leader_epochs.FILE_NAME}")
            self._disk.sync_directory(self.volume.path)
        self.logs[partition] = copy
        self.save_recovery_points()
        self.save_high_watermarks()
        self.save_log_starts()
        return copy

    def abandon_future(self, partition: TopicPartition, *, now_ms: int) -> None:
        """Give up a copy; its files go at once."""
        copy = self.futures.pop(partition)
        for segment in copy.segments:
            self.volume.forget(segment)
        self.doomed.append((now_ms, copy.folder.path))

    def next_deadline_ms(self) -> int | None:
        """When `expire` has something to return."""
        deadlines = [deadline_ms for deadline_ms, _ in self.doomed]
        for log in self.logs.values():
            deadline_ms = log.next_deadline_ms()
            if deadline_ms is not None:
                deadlines.append(deadline_ms)
        return min(deadlines, default=None)

    def expire(self, *, now_ms: int) -> list[str]:
        """Files and directories whose time has come, for `remove_tree` off the loop."""
        due = [path for deadline_ms, path in self.doomed if deadline_ms <= now_ms]
        self.doomed = [waiting for waiting in self.doomed if waiting[0] > now_ms]
        for log in self.logs.values():
            if log.next_deadline_ms() is not None:
                due += log.expire(now_ms=now_ms)
        return due

    # Checkpoints

    def recovery_points(self) -> dict[TopicPartition, int]:
        """Up to where each log is flushed."""
        points = {
            partition: aside.remembered.recovery_point
            for partition, aside in self.set_aside.items()
            if aside.remembered.recovery_point is not None
        }
        return points | {partition: log.recovery_point for partition, log in self.logs.items()}

    def high_watermarks(self) -> dict[TopicPartition, int]:
        """Up to where consumers may read each log."""
        asides = self.set_aside.items()
        marks = {partition: aside.remembered.high_watermark for partition, aside in asides}
        return marks | {partition: log.high_watermark for partition, log in self.logs.items()}

    def log_starts(self) -> dict[TopicPartition, int]:
        """The start offsets of the logs that do not begin with a segment."""
        starts = {
            partition: aside.remembered.log_start_offset
            for partition, aside in self.set_aside.items()
            if aside.remembered.log_start_offset > 0
        }
        return starts | {
            partition: log.log_start_offset
            for partition, log in self.logs.items()
            if log.log_start_offset > log.segments.first.base_offset
        }

    def save_recovery_points(self) -> None:
        """Write the recovery points.

        Only ever on the event loop: a write in a thread could overtake one that lowers
        the recovery point of a log that is being cut.
        """
        if self._is_loaded:
            self._write_offsets(checkpoint.RECOVERY_POINTS, self.recovery_points())

    def save_high_watermarks(self) -> None:
        """Write the high watermarks."""
        self._write_offsets(checkpoint.HIGH_WATERMARKS, self.high_watermarks())

    def save_log_starts(self) -> None:
        """Write the start offsets."""
        self._write_offsets(checkpoint.LOG_START_OFFSETS, self.log_starts())

    # Stopping

    def close(self, *, now_ms: int, run_all: Callable[[Iterable[Work]], None] = one_by_one) -> None:
        """Leave everything durable, so that the next start needs no recovery.

        Blocks; nothing may be appended any more. `run_all` may do pieces of work at once:
        they wait for the disk.
        """
        with self.volume.guard():
            waiting = iter(self.logs.values())
            while logs := list(islice(waiting, _CLOSED_TOGETHER)):
                flushes = [flush.prepare_close(log) for log in logs]
                run_all(partial(last.run, self._disk) for last in flushes)
                for log, last in zip(logs, flushes, strict=True):
                    flush.complete(log, last, now_ms=now_ms)
            self.save_recovery_points()
            self.save_high_watermarks()
            self.save_log_starts()
            if not self.set_aside:
                write_atomically(self._disk, self._path(CLEAN_STOP), _CLEAN_STOP_TEXT)
        self._lock = None

    def _path(self, name: str) -> str:
        return f"{self.volume.path}/{name}"

    def _read_offsets(self, name: str) -> dict[TopicPartition, int]:
        try:
            return checkpoint.read_offsets(self._disk, self._path(name))
        except CheckpointError as error:
            _log.warning("Failed to read %s: %s; continuing without it", self._path(name), error)
            return {}

    def _write_offsets(self, name: str, offsets: dict[TopicPartition, int]) -> None:
        with self.volume.guard():
            checkpoint.write_offsets(self._disk, self._path(name), offsets)


def remove_tree(disk: Disk, path: str) -> None:
    """Remove a file, or a directory with the files in it."""
    found = disk.status(path)
    if found is None:
        return
    if not found.is_directory:
        disk.remove(path)
        return
    for entry in disk.list_directory(path):
        remove_tree(disk, f"{path}/{entry.name}")
    disk.remove_directory(path)
