"""The port to the file system: every byte a broker keeps goes through it.

`Disk` and `File` are the port; `PosixDisk` is the real one, `moldau.testing.disk` has
one in memory that can fail or lose power at any call. Each method is one step that can
fail on its own, with `OSError`; the owner of the log directory decides what that means.

Calls block. The event loop may append and read what is in the page cache; `sync` and
reads of cold bytes belong in a thread.
"""

import contextlib
import errno
import fcntl
import os
from typing import NamedTuple, Protocol

Buffer = bytes | bytearray | memoryview


class DirectoryEntry(NamedTuple):
    """One name in a directory, with what a single `stat` returns."""

    name: str
    size: int
    modified_ms: int
    is_directory: bool


class File(Protocol):
    """An open file. It stays open, and stays the same file, for as long as it is referenced.

    Renaming or removing the path does not disturb it, so a reader that holds a `File`
    can never find another file's bytes under its descriptor.
    """

    def fileno(self) -> int:
        """The descriptor, for `sendfile`; -1 where there is none."""

    def size(self) -> int:
        """The number of bytes in the file."""

    def read(self, position: int, size: int) -> bytes:
        """Read `size` bytes at `position`, fewer only at the end of the file."""

    def read_cached(self, position: int, size: int) -> bytes | None:
        """Like `read`, but None if it would have to wait for the device."""

    def append(self, data: Buffer) -> None:
        """Write all of `data` at the end; after an error any prefix of it may be there."""

    def truncate(self, size: int) -> None:
        """Cut the file to `size` bytes."""

    def sync(self) -> None:
        """Force the contents to the device. A failure is final: never try again (fsyncgate)."""


class Disk(Protocol):
    """A file system, as far as a broker needs one. Paths are absolute strings."""

    def open_read(self, path: str) -> File:
        """Open an existing file for reading."""

    def open_append(self, path: str) -> File:
        """Open a file for reading and appending; create it if it does not exist."""

    def read_file(self, path: str) -> bytes:
        """The whole contents of a file."""

    def status(self, path: str) -> DirectoryEntry | None:
        """What is at `path`, or None if nothing is."""

    def list_directory(self, path: str) -> list[DirectoryEntry]:
        """Everything in a directory, in no particular order."""

    def make_directory(self, path: str) -> None:
        """Create a directory; its parent exists. Fine if it is there already."""

    def rename(self, source: str, target: str) -> None:
        """Give a file or directory another name, atomically replacing a file of that name."""

    def remove(self, path: str) -> None:
        """Remove a file; fine if it is gone already."""

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory; fine if it is gone already."""

    def sync_directory(self, path: str) -> None:
        """Make the names in a directory durable: files created, renamed or removed in it."""

    def set_modified(self, path: str, modified_ms: int) -> None:
        """Set the modification time of a file."""

    def free_bytes(self, path: str) -> int:
        """The number of bytes that can still be written to the device that holds `path`."""

    def total_bytes(self, path: str) -> int:
        """The number of bytes of the device that holds `path`."""

    def lock(self, path: str) -> File:
        """Take an exclusive lock for as long as the returned file is referenced.

        Raises BlockingIOError if another process holds it.
        """


def write_atomically(disk: Disk, path: str, data: Buffer, *, is_durable: bool = True) -> None:
    """Replace the file at `path`: after a crash it holds the old bytes or the new ones.

    Unless `is_durable`, that holds for the end of the process alone, and the caller syncs
    file and directory later.
    """
    temporary = path + ".tmp"
    disk.remove(temporary)
    file = disk.open_append(temporary)
    file.append(data)
    if is_durable:
        file.sync()
    disk.rename(temporary, path)
    if is_durable:
        disk.sync_directory(os.path.dirname(path))


class PosixFile:
    """A descriptor that is closed when the last reference to it goes."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._descriptor)

    def fileno(self) -> int:
        return self._descriptor

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def read(self, position: int, size: int) -> bytes:
        data = os.pread(self._descriptor, size, position)
        if len(data) == size or not data:
            return data
        parts = [data]
        got = len(data)
        while got < size and (data := os.pread(self._descriptor, size - got, position + got)):
            parts.append(data)
            got += len(data)
        return b"".join(parts)

    def read_cached(self, position: int, size: int) -> bytes | None:
        buffer = bytearray(size)
        try:
            got = os.preadv(self._descriptor, [buffer], position, os.RWF_NOWAIT)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP:
                raise
            # Such file systems (older tmpfs) keep everything in memory anyway.
            return self.read(position, size)
        if got < size and position + got < self.size():
            return None
        return bytes(memoryview(buffer)[:got])

    def append(self, data: Buffer) -> None:
        # O_APPEND, not a position: `loop.sendfile` moves the position of the descriptor.
        written = os.write(self._descriptor, data)
        if written == len(data):
            return
        rest = memoryview(data)[written:]
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def truncate(self, size: int) -> None:
        os.ftruncate(self._descriptor, size)

    def sync(self) -> None:
        os.fsync(self._descriptor)


class PosixDisk:
    """The operating system's files."""

    __slots__ = ()

    def open_read(self, path: str) -> PosixFile:
        return PosixFile(os.open(path, os.O_RDONLY | os.O_CLOEXEC))

    def open_append(self, path: str) -> PosixFile:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        return PosixFile(os.open(path, flags, 0o644))

    def read_file(self, path: str) -> bytes:
        file = self.open_read(path)
        return file.read(0, file.size())

    def status(self, path: str) -> DirectoryEntry | None:
        try:
            found = os.stat(path)
        except FileNotFoundError:
            return None
        return _entry(os.path.basename(path), found, is_directory=os.path.isdir(path))

    def list_directory(self, path: str) -> list[DirectoryEntry]:
        entries = []
        with os.scandir(path) as listing:
            for item in listing:
                # A file may go between the listing and the stat: then it is not there.
                with contextlib.suppress(FileNotFoundError):
                    entries.append(_entry(item.name, item.stat(), is_directory=item.is_dir()))
        return entries

    def make_directory(self, path: str) -> None:
        # Only the broker's user may read records, whatever the umask. An existing directory keeps
        # its mode: the operator may have let a group in, a backup for example.
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)

    def rename(self, source: str, target: str) -> None:
        os.rename(source, target)

    def remove(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)

    def remove_directory(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(path)

    def sync_directory(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def set_modified(self, path: str, modified_ms: int) -> None:
        os.utime(path, ns=(modified_ms * 1_000_000, modified_ms * 1_000_000))

    def free_bytes(self, path: str) -> int:
        device = os.statvfs(path)
        return device.f_bavail * device.f_frsize

    def total_bytes(self, path: str) -> int:
        device = os.statvfs(path)
        return device.f_blocks * device.f_frsize

    def lock(self, path: str) -> PosixFile:
        file = self.open_append(path)
        # A record lock, as Java's FileChannel takes it, so that Apache's broker sees ours.
        try:
            fcntl.lockf(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from error
        return file


def _entry(name: str, found: os.stat_result, *, is_directory: bool) -> DirectoryEntry:
    return DirectoryEntry(name, found.st_size, found.st_mtime_ns // 1_000_000, is_directory)
