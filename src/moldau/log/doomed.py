"""Files that are out of the log and wait to be removed.

Removing a large file takes long, so a thread does it; the delay (`file.delete.delay.ms`)
is Kafka's. Readers are not disturbed either way: they hold the file open.
"""

from collections.abc import Collection, Sequence

from moldau.log import names
from moldau.log.segment import Segment
from moldau.log.snapshots import Snapshots
from moldau.log.volume import Folder


class Doomed:
    """The files of one log that are called `.deleted`, with the time of their end."""

    __slots__ = ("_folder", "_waiting")

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._waiting: tuple[tuple[int, list[str]], ...] = ()

    def add(
        self,
        segments: Sequence[Segment],
        snapshots: Snapshots,
        *,
        deadline_ms: int,
        kept_snapshots: Collection[int] = (),
    ) -> None:
        """Rename the files of `segments` and of their producer snapshots."""
        paths = []
        for segment in segments:
            self._folder.volume.forget(segment)
            paths += segment.rename(names.DELETED)
            if segment.base_offset not in kept_snapshots:
                paths += snapshots.doom(segment.base_offset)
        self._waiting += ((deadline_ms, paths),)

    def next_deadline_ms(self) -> int | None:
        """When `take_due` has something to return."""
        return min((deadline_ms for deadline_ms, _ in self._waiting), default=None)

    def take_due(self, *, now_ms: int) -> list[str]:
        """Hand out the files whose time has come, to be removed by the caller."""
        due = [path for at_ms, paths in self._waiting if at_ms <= now_ms for path in paths]
        self._waiting = tuple(waiting for waiting in self._waiting if waiting[0] > now_ms)
        return due
