"""A range of an open file, sent to a socket without passing through Python."""

import os
from dataclasses import dataclass

from moldau.runtime.disk import File

_READ_AHEAD_BYTES = 1 << 20
_PROBE_INTERVAL_BYTES = 1 << 19


@dataclass(frozen=True, slots=True)
class FileRange:
    """`size` bytes of `file` from `position` on; holding it keeps the file open."""

    file: File
    position: int
    size: int

    def __len__(self) -> int:
        return self.size

    def fileno(self) -> int:
        """The descriptor, as `loop.sendfile` asks for it."""
        return self.file.fileno()

    def read(self) -> bytes:
        """Copy the bytes into memory."""
        return self.file.read(self.position, self.size)

    def read_cached(self) -> bytes | None:
        """Like `read`, but None if it would have to wait for the device."""
        return self.file.read_cached(self.position, self.size)

    def read_into(self, buffer: memoryview) -> int:
        """Copy what the buffer has room for into it; returns how much that was."""
        wanted = min(self.size, len(buffer))
        descriptor = self.fileno()
        if descriptor >= 0:
            return os.preadv(descriptor, [buffer[:wanted]], self.position)
        data = self.file.read(self.position, wanted)
        buffer[: len(data)] = data
        return len(data)

    def part(self, position: int, size: int) -> "FileRange":
        """Another range of the same file."""
        return FileRange(self.file, position, size)

    def seems_cached(self) -> bool:
        """Whether looks at its start, at its end and in between did not wait for the device."""
        last = self.position + self.size - 1
        places = (*range(self.position, last, _PROBE_INTERVAL_BYTES), last)
        return all(self.file.read_cached(place, 1) is not None for place in places)

    def read_ahead(self) -> None:
        """Bring the bytes into the page cache, however long that takes."""
        end = self.position + self.size
        for position in range(self.position, end, _READ_AHEAD_BYTES):
            self.file.read(position, min(_READ_AHEAD_BYTES, end - position))
