"""Files of a directory as records, in the order of their names, and those that come later.

Files appear as a whole and do not change. A file whose name comes before one that was read is not
seen: names begin with a time, or with a number that grows.
"""

import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from moldau.connect.config.definition import PluginSetting, at_least, one_of
from moldau.connect.config.values import number, required
from moldau.connect.connector import Offset, Source, SourceBatch, SourcePartition
from moldau.connect.connectors.files.source import FORMATS, FileRows
from moldau.connect.errors import ConnectError, RetriableConnectError

_DIRECTORY, _FILE, _ROW = "directory", "file", "row"


class DirectorySource(Source):
    """The offset is the last file, and how many of its rows were read."""

    settings = (
        PluginSetting("directory", required=True, importance="HIGH"),
        PluginSetting("format", required=True, check=one_of(*FORMATS)),
        PluginSetting("topic", required=True, importance="HIGH"),
        PluginSetting("file.pattern", default="*"),
        PluginSetting("batch.max.rows", "INT", "10000", check=at_least(1)),
        PluginSetting("poll.interval.ms", "INT", "5000", check=at_least(1)),
    )

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._directory = required(config, "directory")
        self._format = required(config, "format")
        self._pattern = config.get("file.pattern", "*")
        self._rows_max = number(config, "batch.max.rows", 10_000)
        self.poll_interval_s = number(config, "poll.interval.ms", 5000) / 1000
        self._reader: FileRows | None = None
        self._ended: dict[str, int] = {}
        """Rows of files that have no more, and need not be opened again."""

    def partitions(self) -> Sequence[SourcePartition]:
        """The directory."""
        return [{_DIRECTORY: os.path.abspath(self._directory)}]

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        """The next rows of the file that was begun, or of the next one."""
        folder = str(partition[_DIRECTORY])
        name, row = _place_of(start)
        for each in self._files(folder, name):
            if each != name:
                row = 0
            path = os.path.join(folder, each)
            if self._ended.get(path) == row:
                continue
            if self._reader is None or not self._reader.is_at(path, row):
                self._reader = FileRows(path, self._format, row, min(limit, self._rows_max))
            values = self._reader.next()
            if values is None:
                self._ended[path] = row
            else:
                self._ended.clear()
                return SourceBatch([values], {_FILE: each, _ROW: self._reader.row})
        return None

    def _files(self, folder: str, first: str) -> list[str]:
        """From a name on, without hidden ones."""
        try:
            names = os.listdir(folder)
        except OSError as error:
            raise RetriableConnectError(f"{folder}: {error.strerror}") from error
        wanted = (each for each in names if each >= first and not each.startswith((".", "_")))
        chosen = (each for each in wanted if fnmatchcase(each, self._pattern))
        return sorted(each for each in chosen if os.path.isfile(os.path.join(folder, each)))

    def check_offset(self, partition: SourcePartition, offset: Offset | None) -> None:
        """Of this directory."""
        if dict(partition) != dict(self.partitions()[0]):
            raise ConnectError(f"the only partition is {dict(self.partitions()[0])}")
        _place_of(offset)

    def close(self) -> None:
        """Close the file, which its reader holds."""
        self._reader = None


def _place_of(start: Offset | None) -> tuple[str, int]:
    if start is None:
        return "", 0
    name, row = start.get(_FILE), start.get(_ROW, 0)
    if not isinstance(name, str) or not isinstance(row, int) or row < 0:
        raise ConnectError(f"{dict(start)} is no offset of this connector: it has a `file`")
    return name, row
