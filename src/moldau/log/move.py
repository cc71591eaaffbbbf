"""Moving a log to another directory while it is in use.

    copying ── caught up ──► complete() ──► the copy is the log
       └── the log is gone, or a disk fails ──► abandon()

The copy follows the log as a follower follows its leader. `complete` takes no more than a
few renames, and nothing can be appended in between: so no client notices. The
new name is durable before the old one goes, so that a crash may leave two logs with the
same records, but never none.
"""

from moldau.log.directory import LogDirectory
from moldau.log.log import Log
from moldau.model import TopicPartition
from moldau.records.batch import iterate_headers
from moldau.runtime.file_range import FileRange


class LogMove:
    """One log on its way from one directory to another."""

    def __init__(
        self,
        partition: TopicPartition,
        source: LogDirectory,
        target: LogDirectory,
        *,
        unique: str,
        now_ms: int,
    ) -> None:
        """`unique` is 32 hex digits."""
        self.partition = partition
        self.source = source
        self.target = target
        self._unique = unique
        self._log = source.logs[partition]
        self.copy = target.begin_future(partition, self._log, unique=unique, now_ms=now_ms)
        self._truncation_count = self._log.truncation_count

    @property
    def is_possible(self) -> bool:
        """Whether the log is still there, and both volumes are online."""
        return (
            self.source.logs.get(self.partition) is self._log
            and self.source.volume.is_online
            and self.target.volume.is_online
        )

    @property
    def is_caught_up(self) -> bool:
        """Whether the copy has all records."""
        return (
            self._truncation_count == self._log.truncation_count
            and self.copy.log_end_offset == self._log.log_end_offset
        )

    def next_range(self, max_bytes: int, *, now_ms: int) -> FileRange | None:
        """What to copy next; None if there is nothing."""
        self._keep_up(now_ms)
        if self.is_caught_up:
            return None
        fetched = self._log.read(self.copy.log_end_offset, max_bytes=max_bytes, at_least_one=True)
        return fetched.range

    def append(self, data: bytes, *, now_ms: int) -> None:
        """Add what was read; of no use if the log was cut in the meantime."""
        if self._truncation_count != self._log.truncation_count:
            return
        size = 0
        for position, header in iterate_headers(data):
            if position == 0 and header.base_offset < self.copy.log_end_offset:
                # The log begins in the middle of a batch, which moves as a whole.
                self.copy.truncate_fully_and_start_at(header.base_offset, now_ms=now_ms)
            size = position + header.size
        self.copy.append_as_follower(memoryview(data)[:size], now_ms=now_ms)

    def complete(self, *, now_ms: int) -> Log:
        """Put the copy in the place of the log; returns it."""
        assert self.is_possible
        assert self.is_caught_up
        log, copy = self._log, self.copy
        for start in log.epochs:
            copy.epochs.assign(start.epoch, start.start_offset)
        copy.config = log.config
        copy.raise_high_watermark(log.high_watermark)
        copy.raise_log_start(log.log_start_offset)
        self.target.finish_future(self.partition)
        self.source.delete(self.partition, unique=self._unique, now_ms=now_ms)
        return copy

    def abandon(self, *, now_ms: int) -> None:
        """Give up."""
        self.target.abandon_future(self.partition, now_ms=now_ms)

    def _keep_up(self, now_ms: int) -> None:
        """Begin anew where the log was cut at either end past what the copy has."""
        log = self._log
        was_cut = self._truncation_count != log.truncation_count
        if was_cut or log.log_start_offset > self.copy.log_end_offset:
            self._truncation_count = log.truncation_count
            self.copy.truncate_fully_and_start_at(log.log_start_offset, now_ms=now_ms)
