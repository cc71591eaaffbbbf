"""The checkpoint files of a log directory, written when something in them has changed."""

from collections.abc import Mapping

from moldau.log import checkpoint
from moldau.log.directory import LogDirectory
from moldau.model import TopicPartition
from moldau.runtime.disk import Disk
from moldau.runtime.threads import in_thread

Offsets = Mapping[TopicPartition, int]
_PREPARED = ".prepared"


class Checkpoints:
    """Remembers what each file of one directory holds."""

    def __init__(self, directory: LogDirectory) -> None:
        self._directory = directory
        self._written: dict[str, Offsets] = {}

    async def save_high_watermarks(self) -> None:
        """Write where consumers may read to."""
        await self.save(checkpoint.HIGH_WATERMARKS, self._directory.high_watermarks())

    async def save_log_starts(self) -> None:
        """Write the start offsets of the logs that do not begin with a segment."""
        await self.save(checkpoint.LOG_START_OFFSETS, self._directory.log_starts())

    async def save_recovery_points(self) -> None:
        """Write up to where recovery need not look.

        A log that is cut lowers its point in the file on the spot; what a thread wrote
        meanwhile must not raise it again. So the thread only prepares the file, and the
        loop puts it in place if no point is lower by then. Should the new name get lost
        in a crash, recovery looks at a little more.
        """
        points = self._directory.recovery_points()
        if not self._is_news(checkpoint.RECOVERY_POINTS, points):
            return
        volume = self._directory.volume
        path = f"{volume.path}/{checkpoint.RECOVERY_POINTS}"
        try:
            await in_thread(lambda: _prepare(volume.disk, path + _PREPARED, points))
            current = self._directory.recovery_points()
            if all(current.get(name, point) >= point for name, point in points.items()):
                volume.disk.rename(path + _PREPARED, path)
                self._written[checkpoint.RECOVERY_POINTS] = points
        except OSError as error:
            raise volume.fail(error) from error

    async def save(self, name: str, offsets: Offsets) -> None:
        """Write a file in a thread."""
        if self._is_news(name, offsets):
            volume = self._directory.volume
            path = f"{volume.path}/{name}"
            try:
                await in_thread(lambda: checkpoint.write_offsets(volume.disk, path, offsets))
            except OSError as error:
                raise volume.fail(error) from error
            self._written[name] = offsets

    def _is_news(self, name: str, offsets: Offsets) -> bool:
        return self._directory.volume.is_online and self._written.get(name) != offsets


def _prepare(disk: Disk, path: str, offsets: Offsets) -> None:
    disk.remove(path)
    file = disk.open_append(path)
    entries = [(topic, partition, offset) for (topic, partition), offset in offsets.items()]
    file.append(checkpoint.encode_entries(entries))
    file.sync()
