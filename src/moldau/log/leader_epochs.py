"""The leader epochs of one partition: where in the log each leader began (KIP-101).

Kept in the partition's `leader-epoch-checkpoint`, one `epoch start_offset` per line. Both
rise from entry to entry.

The file is as durable as the log: `write` goes before each flush, and recovery takes the
epochs of what was not flushed from the batches. So an election costs no disk call, and a
broker may become the leader of thousands of partitions at once.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from moldau.log.checkpoint import CheckpointError, decode_entries, encode_entries, parse_number
from moldau.model import NO_LEADER_EPOCH
from moldau.runtime.disk import Disk, write_atomically

FILE_NAME = "leader-epoch-checkpoint"
NO_OFFSET = -1


class EpochStart(NamedTuple):
    """The first offset that was written under an epoch."""

    epoch: int
    start_offset: int


class EpochEnd(NamedTuple):
    """The first offset past an epoch; both -1 where the epoch is unknown."""

    epoch: int
    end_offset: int


UNKNOWN_EPOCH = EpochEnd(NO_LEADER_EPOCH, NO_OFFSET)


class LeaderEpochs:
    """The epochs in a log, oldest first."""

    __slots__ = ("_disk", "_path", "_starts", "has_unwritten", "latest")

    def __init__(self, disk: Disk, path: str, starts: Iterable[EpochStart] = ()) -> None:
        self._disk = disk
        self._path = path
        self._starts = list(starts)
        # Each append compares with it, so it is kept beside the list.
        self.latest = self._starts[-1] if self._starts else None
        self.has_unwritten = False

    @classmethod
    def load(cls, disk: Disk, path: str) -> "LeaderEpochs":
        """Read the file; raises `CheckpointError` if it is malformed, is empty without one."""
        if disk.status(path) is None:
            return cls(disk, path)
        starts = [
            EpochStart(parse_number(epoch), parse_number(start_offset))
            for epoch, start_offset in decode_entries(disk.read_file(path), field_count=2)
        ]
        for before, after in pairwise(starts):
            if not (before.epoch < after.epoch and before.start_offset < after.start_offset):
                raise CheckpointError(f"epochs out of order: {before} before {after}")
        return cls(disk, path, starts)

    def __iter__(self) -> Iterator[EpochStart]:
        return iter(self._starts)

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def earliest(self) -> EpochStart | None:
        return self._starts[0] if self._starts else None

    def assign(self, epoch: int, start_offset: int) -> None:
        """Note that `epoch` begins at `start_offset`: with its first batch, or by election.

        Entries that contradict it go: an epoch as new, or one that begins no earlier and
        so has no data.
        """
        assert epoch >= 0, epoch
        assert start_offset >= 0, start_offset
        latest = self.latest
        if latest and epoch == latest.epoch and start_offset >= latest.start_offset:
            return
        while self._starts and (
            self._starts[-1].epoch >= epoch or self._starts[-1].start_offset >= start_offset
        ):
            self._starts.pop()
        self._starts.append(EpochStart(epoch, start_offset))
        self._note_changed()

    def end_offset_for(self, epoch: int, log_end_offset: int) -> EpochEnd:
        """Where `epoch` ended in this log, under the largest epoch here that is not newer."""
        latest = self.latest
        if latest is None or epoch == NO_LEADER_EPOCH or epoch > latest.epoch:
            return UNKNOWN_EPOCH
        if epoch == latest.epoch:
            return EpochEnd(epoch, log_end_offset)
        newer = self._first_newer_than(epoch)
        end_offset = self._starts[newer].start_offset
        if newer == 0:
            # All we have is newer: the epoch ended where our first one begins.
            return EpochEnd(epoch, end_offset)
        return EpochEnd(self._starts[newer - 1].epoch, end_offset)

    def epoch_at(self, offset: int) -> int | None:
        """The epoch that wrote `offset`, if the log still knows it."""
        found = bisect_right(self._starts, offset, key=lambda start: start.start_offset)
        return self._starts[found - 1].epoch if found else None

    def previous_epoch(self, epoch: int) -> int | None:
        """The largest epoch here that is older than `epoch`."""
        found = self._first_newer_than(epoch - 1)
        return self._starts[found - 1].epoch if found else None

    def truncate_from_end(self, end_offset: int) -> None:
        """Forget epochs that begin at `end_offset` or later: the log was cut there."""
        count = len(self._starts)
        while self._starts and self._starts[-1].start_offset >= end_offset:
            self._starts.pop()
        if len(self._starts) != count:
            self._note_changed()

    def truncate_from_start(self, start_offset: int) -> None:
        """Forget what lies before `start_offset`; the epoch it falls into begins there."""
        found = bisect_right(self._starts, start_offset, key=lambda start: start.start_offset)
        if found == 0 or self._starts[0].start_offset == start_offset:
            return
        self._starts[:found] = [EpochStart(self._starts[found - 1].epoch, start_offset)]
        self._note_changed()

    def clear(self) -> None:
        """Forget everything: the log begins anew."""
        self._starts.clear()
        self._note_changed()

    def cut(self, end_offset: int) -> None:
        """Like `truncate_from_end`, and in the file at once.

        The next flush makes it durable. Until then we correct the file by the batches, but
        another broker that opens the log after a crash may trust it.
        """
        self.truncate_from_end(end_offset)
        if self.has_unwritten:
            self.write()
            self.has_unwritten = True

    def write(self) -> None:
        """Bring the file up to date; the caller makes it durable."""
        if self.has_unwritten:
            entries = encode_entries(self._starts)
            write_atomically(self._disk, self._path, entries, is_durable=False)
            self.has_unwritten = False

    def move_to(self, path: str) -> None:
        """The file is called `path` from now on."""
        self._path = path

    def _note_changed(self) -> None:
        self.latest = self._starts[-1] if self._starts else None
        self.has_unwritten = True

    def _first_newer_than(self, epoch: int) -> int:
        return bisect_right(self._starts, epoch, key=lambda start: start.epoch)
