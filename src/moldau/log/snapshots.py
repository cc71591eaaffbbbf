"""The producer snapshots of one log, by the offset they were taken at."""

import logging
from collections.abc import Collection, Iterable

from moldau.log import names, producer_snapshot
from moldau.log.producer_snapshot import CorruptSnapshot
from moldau.log.producer_state import ProducerEntry
from moldau.log.volume import Folder
from moldau.runtime.disk import File

_log = logging.getLogger(__name__)


class Snapshots:
    """Which snapshot files there are; most idle logs have none."""

    __slots__ = ("_folder", "_offsets")

    def __init__(self, folder: Folder, offsets: Iterable[int] = ()) -> None:
        self._folder = folder
        self._offsets: tuple[int, ...] = tuple(sorted(offsets))

    def __bool__(self) -> bool:
        return bool(self._offsets)

    def __contains__(self, offset: int) -> bool:
        return offset in self._offsets

    def path(self, offset: int, suffix: str = "") -> str:
        return self._folder.file(offset, names.SNAPSHOT + suffix)

    def take(self, offset: int, producers: Iterable[ProducerEntry]) -> None:
        """Write down the producers as of `offset`; the next flush syncs the file."""
        producer_snapshot.write(self._folder.disk, self.path(offset), producers, sync=False)
        if offset not in self._offsets:
            self._offsets = tuple(sorted((*self._offsets, offset)))

    def newest(
        self, *, start_offset: int, end_offset: int
    ) -> tuple[int, list[ProducerEntry]] | None:
        """The newest snapshot in the bounds of the log that can be read, and its offset.

        Those that cannot be read are removed.
        """
        while True:
            offset = producer_snapshot.newest(
                self._offsets, start_offset=start_offset, end_offset=end_offset
            )
            if offset is None:
                return None
            try:
                return offset, producer_snapshot.read(self._folder.disk, self.path(offset))
            except CorruptSnapshot as error:
                _log.warning("Failed to read %s, deleting it: %s", self.path(offset), error)
                self.remove([offset])

    def strays(self, base_offsets: Collection[int]) -> list[int]:
        """The snapshots that belong to no segment any more."""
        return producer_snapshot.strays(self._offsets, base_offsets)

    def after(self, offset: int) -> list[int]:
        """The snapshots taken behind `offset`."""
        return [taken for taken in self._offsets if taken > offset]

    def remove(self, offsets: Collection[int]) -> None:
        """Remove the files of these snapshots."""
        for offset in offsets:
            self._folder.disk.remove(self.path(offset))
        self._offsets = tuple(kept for kept in self._offsets if kept not in offsets)

    def doom(self, offset: int) -> list[str]:
        """Rename the snapshot at `offset`, if there is one; the new path is to be removed."""
        if offset not in self._offsets:
            return []
        doomed = self.path(offset, names.DELETED)
        self._folder.disk.rename(self.path(offset), doomed)
        self._offsets = tuple(kept for kept in self._offsets if kept != offset)
        return [doomed]

    def files(self, start_offset: int, end_offset: int) -> list[File]:
        """The files of the snapshots taken after `start_offset`, up to `end_offset`."""
        return [
            self._folder.disk.open_read(self.path(offset))
            for offset in self._offsets
            if start_offset < offset <= end_offset
        ]
