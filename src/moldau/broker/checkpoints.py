"""The checkpoint files of a log directory, written when something in them has changed."""

from collections.abc import Mapping

from moldau.log import checkpoint
from moldau.log.directory import LogDirectory
from moldau.model import TopicPartition
from moldau.runtime.threads import in_thread

Offsets = Mapping[TopicPartition, int]


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

    def save_recovery_points(self) -> None:
        """Write up to where recovery need not look, on the loop (see `LogDirectory`)."""
        points = self._directory.recovery_points()
        if self._is_news(checkpoint.RECOVERY_POINTS, points):
            self._directory.save_recovery_points()
            self._written[checkpoint.RECOVERY_POINTS] = points

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
