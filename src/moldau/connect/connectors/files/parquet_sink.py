"""Topics as Parquet files, each record in one of them.

A file is `TOPIC/partition=N/FIRST.parquet`, FIRST being the offset of its first record; its
metadata says where the next one begins. A file appears at once and is never replaced: of two tasks
that hold the same records the second finds the file of the first, and leaves out what is in it.
"""

import os
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from moldau.connect.config.definition import PluginSetting, one_of
from moldau.connect.config.values import required
from moldau.connect.connectors.files.folders import (
    folder_of,
    name_of,
    sync_folder,
    unfinished,
)
from moldau.connect.connectors.holding import SETTINGS, HeldPart, HoldingSink
from moldau.connect.errors import ConnectError, RetriableConnectError

_NEXT = b"moldau.next_offset"
_SUFFIX = ".parquet"


class ParquetSink(HoldingSink):
    """Files in a directory that all tasks see."""

    settings = (
        PluginSetting("directory", required=True, importance="HIGH"),
        *SETTINGS,
        PluginSetting(
            "compression", default="zstd", check=one_of("none", "snappy", "gzip", "lz4", "zstd")
        ),
    )

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._directory = required(config, "directory")
        self._compression = config.get("compression", "zstd")
        self._next: dict[tuple[str, int], int] = {}

    def store(self, parts: Sequence[HeldPart]) -> None:
        """A file for each partition."""
        try:
            for part in parts:
                self._store(part)
        except OSError as error:
            raise RetriableConnectError(f"{self._directory}: {error.strerror}") from error

    def _store(self, part: HeldPart) -> None:
        place = (part.topic, part.partition)
        folder = folder_of(self._directory, part)
        if place not in self._next:
            os.makedirs(folder, exist_ok=True)
            self._next[place] = _stored_until(folder)
        rest = part.since(self._next[place])
        while rest is not None:
            path = os.path.join(folder, f"{name_of(rest.first_offset)}{_SUFFIX}")
            if self._create(path, rest):
                self._next[place] = rest.next_offset
                return
            self._next[place] = _next_of(path)
            rest = rest.since(self._next[place])

    def _create(self, path: str, part: HeldPart) -> bool:
        """False if somebody has made this file already."""
        folder = os.path.dirname(path)
        rows = self.rows_of(part).replace_schema_metadata({_NEXT: str(part.next_offset).encode()})
        with unfinished(folder) as written:
            with open(written, "xb") as file:
                pq.write_table(rows, file, compression=self._compression)
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(written, path)
            except FileExistsError:
                return False
        sync_folder(folder)
        return True


def _stored_until(folder: str) -> int:
    files = sorted(name for name in os.listdir(folder) if name.endswith(_SUFFIX))
    return _next_of(os.path.join(folder, files[-1])) if files else 0


def _next_of(path: str) -> int:
    try:
        metadata = pq.read_schema(path).metadata or {}
        return int(metadata[_NEXT])
    except (KeyError, ValueError, pa.ArrowException) as error:
        raise ConnectError(f"{path} is in the way: it was not written by this sink") from error
