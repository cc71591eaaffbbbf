"""A stretch of an open file, sent to a socket without passing through Python."""

from dataclasses import dataclass

from moldau.runtime.disk import File


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
