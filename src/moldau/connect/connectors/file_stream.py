"""Kafka's file stream connectors: lines of a file into a topic, and back."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import BinaryIO

import pyarrow as pa

from moldau.connect.config.values import number, required
from moldau.connect.connector import Offset, Sink, Source, SourceBatch, SourcePartition
from moldau.connect.converters.plain import java_text
from moldau.connect.data.arrow import table_of
from moldau.connect.data.schema import STRING
from moldau.connect.errors import ConfigError, ConnectError, RetriableConnectError

_FILE, _POSITION = "filename", "position"
_PIECE_BYTES = 1 << 20


class FileStreamSource(Source):
    """Whole lines; the offset is the number of bytes that were read.

    Java's counts characters, which is the same for ASCII.
    """

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._path = config.get("file", "")
        self._topic = required(config, "topic")
        self._lines_max = number(config, "batch.size", 2000)
        if not self._path:
            raise ConfigError("file: name a file; a worker has no standard input")

    def partitions(self) -> Sequence[SourcePartition]:
        """The file."""
        return [{_FILE: self._path}]

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        """Lines that are complete; None while the file is not there."""
        position = _position(start)
        count = min(limit, self._lines_max)
        try:
            with open(str(partition[_FILE]), "rb") as file:
                lines = _read_lines(file, position)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RetriableConnectError(f"{self._path}: {error.strerror}") from error
        lines = lines[:count]
        if not lines:
            return None
        values = [line.rstrip(b"\n").removesuffix(b"\r").decode() for line in lines]
        table = table_of(None, STRING, ({"value": value, "topic": self._topic} for value in values))
        return SourceBatch([table], {_POSITION: position + sum(map(len, lines))})

    def check_offset(self, partition: SourcePartition, offset: Offset | None) -> None:
        """As Java's checks them."""
        if _FILE not in partition:
            raise ConnectError(f"Partition objects should contain the key '{_FILE}'")
        if offset is None:
            return
        if _POSITION not in offset:
            raise ConnectError("Offset objects should either be null or contain the key 'position'")
        if not isinstance(offset[_POSITION], int):
            raise ConnectError(
                "The value for the 'position' key in the offset is expected to be a Long value"
            )
        if _position(offset) < 0:
            raise ConnectError(
                "The value for the 'position' key in the offset should be non-negative"
            )


def _read_lines(file: BinaryIO, position: int) -> list[bytes]:
    """Some lines from a position on; one that is longer than a piece is read in larger ones."""
    size = _PIECE_BYTES
    while True:
        file.seek(position)
        data = file.read(size)
        lines = _lines(data)
        if lines or len(data) < size:
            return lines
        size *= 2


def _lines(data: bytes) -> list[bytes]:
    lines = data.splitlines(keepends=True) if b"\r" not in data else _split(data)
    return [line for line in lines if line.endswith(b"\n")]


def _split(data: bytes) -> list[bytes]:
    """At line feeds alone: a lone carriage return may be the half of what comes."""
    return [piece + b"\n" for piece in data.split(b"\n")[:-1]]


def _position(start: Offset | None) -> int:
    found = (start or {}).get(_POSITION, 0)
    return found if isinstance(found, int) else 0


class FileStreamSink(Sink):
    """Values as lines, at least once: what was written before a crash may come again."""

    runs_anywhere = False

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._path = config.get("file", "")

    def write(self, table: pa.Table, batch_id: int) -> None:
        """Append, and have it on the disk."""
        del batch_id
        values = table.column("value").to_pylist()
        data = "".join(f"{java_text(each)}\n" for each in values).encode()
        if not self._path:
            sys.stdout.write(data.decode())
            return
        try:
            with open(self._path, "ab") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise RetriableConnectError(f"{self._path}: {error.strerror}") from error
