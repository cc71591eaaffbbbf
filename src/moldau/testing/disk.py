"""A disk in memory that can fail at any call and lose power at any moment.

What survives a power loss is what POSIX promises and no more: the bytes of a file as of
its last `sync`, the names in a directory as of its last `sync_directory`. Of everything
later, `restart` keeps as much as its `choice` says, always a prefix: per file of the
bytes written, per directory of the names changed.
"""

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from moldau.runtime.disk import Buffer, DirectoryEntry

UNLIMITED_BYTES = 1 << 60

Choice = Callable[[int], int]
"""How many of so many unsynced steps survive a power loss: a number in `[0, n]`."""


def lose_all(_count: int) -> int:
    """Nothing unsynced survives: the harshest power loss."""
    return 0


def keep_all(count: int) -> int:
    """All survives: the process was killed, the machine lives on."""
    return count


class PowerLost(Exception):
    """The machine went off; nothing done to this disk has an effect any more."""


class MemoryDisk:
    """The `Disk` port over a tree in memory; `calls` names every call made through it."""

    def __init__(
        self,
        *,
        now_ms: Callable[[], int] = lambda: 0,
        capacity_bytes: int = UNLIMITED_BYTES,
    ) -> None:
        self.calls: list[str] = []
        self.on_power_lost: Callable[[], None] = lambda: None
        """Called when power is lost at a call, before the caller gets the error."""
        self.capacity_bytes = capacity_bytes
        self._now_ms = now_ms
        self._root = _Directory()
        self._is_on = True
        self._faults: dict[int, OSError | PowerLost] = {}
        self._cuts: dict[int, int] = {}
        self._locks: WeakValueDictionary[str, MemoryFile] = WeakValueDictionary()

    # What a test does to the disk.

    def fail_call(self, number: int, code: int = errno.EIO) -> None:
        """Let the `number`-th call from now on, counted from 1, raise an OSError."""
        self._faults[len(self.calls) + number] = OSError(code, os.strerror(code))

    def cut_call(self, number: int, *, kept_bytes: int) -> None:
        """Like `fail_call` with a full disk, but an append first writes `kept_bytes`."""
        self.fail_call(number, errno.ENOSPC)
        self._cuts[len(self.calls) + number] = kept_bytes

    def lose_power_at_call(self, number: int) -> None:
        """Let the `number`-th call from now on raise `PowerLost` instead of doing anything."""
        self._faults[len(self.calls) + number] = PowerLost(f"at call {number}")

    def mend(self) -> None:
        """Let no call fail that has not failed yet."""
        self._faults.clear()
        self._cuts.clear()

    def restart(
        self, choice: Choice = lose_all, *, lost_bytes_are_zero: bool = False
    ) -> "MemoryDisk":
        """Lose power, and return the disk as the next start finds it.

        `lost_bytes_are_zero` models a file system that made the new size of a file
        durable, but not the bytes.
        """
        self._is_on = False
        survivor = MemoryDisk(now_ms=self._now_ms, capacity_bytes=self.capacity_bytes)
        survivor._root = self._root.after_power_loss(choice, lost_bytes_are_zero)
        return survivor

    def end_process(self) -> "MemoryDisk":
        """End the process that has it, and return the disk for the next one.

        The machine lives on, and with it all that was written: what was not synced can still
        be lost with the power.
        """
        self._is_on = False
        survivor = MemoryDisk(now_ms=self._now_ms, capacity_bytes=self.capacity_bytes)
        survivor._root = self._root
        return survivor

    def chill(self, path: str) -> None:
        """Drop a file from the page cache: `read_cached` fails until it is read."""
        self._file(path).is_cold = True

    def used_bytes(self) -> int:
        """The number of bytes in all files that have a name."""
        return self._root.used_bytes()

    # The port.

    def open_read(self, path: str) -> "MemoryFile":
        self._enter("open_read")
        return MemoryFile(self, self._file(path))

    def open_append(self, path: str) -> "MemoryFile":
        self._enter("open_append")
        directory, name = self._parent(path)
        if name not in directory.names:
            directory.change({name: _Contents(modified_ms=self._now_ms())})
        return MemoryFile(self, self._file(path))

    def read_file(self, path: str) -> bytes:
        self._enter("read_file")
        contents = self._file(path)
        contents.is_cold = False
        return bytes(contents.data)

    def status(self, path: str) -> DirectoryEntry | None:
        self._enter("status")
        try:
            node = self._node(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return _entry(os.path.basename(path), node)

    def list_directory(self, path: str) -> list[DirectoryEntry]:
        self._enter("list_directory")
        return [_entry(name, node) for name, node in self._directory(path).names.items()]

    def make_directory(self, path: str) -> None:
        self._enter("make_directory")
        directory, name = self._parent(path)
        if name not in directory.names:
            directory.change({name: _Directory()})

    def rename(self, source: str, target: str) -> None:
        self._enter("rename")
        directory, name = self._parent(source)
        target_directory, target_name = self._parent(target)
        node = self._node(source)
        _check_replaceable(target_directory.names.get(target_name), node, target)
        if directory is target_directory:
            directory.change({name: None, target_name: node})
        else:
            target_directory.change({target_name: node})
            directory.change({name: None})

    def remove(self, path: str) -> None:
        self._enter("remove")
        directory, name = self._parent(path)
        if isinstance(directory.names.get(name), _Directory):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if name in directory.names:
            directory.change({name: None})

    def remove_directory(self, path: str) -> None:
        self._enter("remove_directory")
        directory, name = self._parent(path)
        if name not in directory.names:
            return
        if self._directory(path).names:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        directory.change({name: None})

    def sync_directory(self, path: str) -> None:
        self._enter("sync_directory")
        self._directory(path).sync()

    def set_modified(self, path: str, modified_ms: int) -> None:
        self._enter("set_modified")
        self._file(path).modified_ms = modified_ms

    def free_bytes(self, path: str) -> int:
        self._enter("free_bytes")
        self._node(path)
        return self.capacity_bytes - self.used_bytes()

    def total_bytes(self, path: str) -> int:
        self._enter("total_bytes")
        self._node(path)
        return self.capacity_bytes

    def lock(self, path: str) -> "MemoryFile":
        if path in self._locks:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), path)
        file = self._locks[path] = self.open_append(path)
        return file

    def _enter(self, call: str) -> None:
        if not self._is_on:
            raise PowerLost(call)
        self.calls.append(call)
        fault = self._faults.pop(len(self.calls), None)
        if isinstance(fault, PowerLost):
            self._is_on = False
            self.on_power_lost()
        if fault is not None:
            raise fault

    def _append(self, contents: "_Contents", data: Buffer) -> None:
        number = len(self.calls) + 1
        try:
            self._enter("append")
        except OSError:
            contents.append(memoryview(data)[: self._cuts.pop(number, 0)], self._now_ms())
            raise
        if self.capacity_bytes == UNLIMITED_BYTES:  # spare the sum over all files
            contents.append(memoryview(data), self._now_ms())
            return
        room = self.capacity_bytes - self.used_bytes()
        contents.append(memoryview(data)[:room], self._now_ms())
        if room < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _node(self, path: str) -> "_Node":
        node: _Node = self._root
        for name in _parts(path):
            if not isinstance(node, _Directory):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
            if name not in node.names:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            node = node.names[name]
        return node

    def _directory(self, path: str) -> "_Directory":
        node = self._node(path)
        if not isinstance(node, _Directory):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return node

    def _file(self, path: str) -> "_Contents":
        node = self._node(path)
        if isinstance(node, _Directory):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return node

    def _parent(self, path: str) -> tuple["_Directory", str]:
        return self._directory(os.path.dirname(path)), os.path.basename(path)


class MemoryFile:
    """An open file of a `MemoryDisk`; renaming or removing its name does not disturb it."""

    __slots__ = ("__weakref__", "_contents", "_disk")

    def __init__(self, disk: MemoryDisk, contents: "_Contents") -> None:
        self._disk = disk
        self._contents = contents

    def fileno(self) -> int:
        return -1

    def size(self) -> int:
        self._disk._enter("size")
        return len(self._contents.data)

    def read(self, position: int, size: int) -> bytes:
        self._disk._enter("read")
        self._contents.is_cold = False
        return bytes(memoryview(self._contents.data)[position : position + size])

    def read_cached(self, position: int, size: int) -> bytes | None:
        self._disk._enter("read_cached")
        if self._contents.is_cold:
            return None
        return bytes(memoryview(self._contents.data)[position : position + size])

    def append(self, data: Buffer) -> None:
        self._disk._append(self._contents, data)

    def truncate(self, size: int) -> None:
        self._disk._enter("truncate")
        self._contents.truncate(size)

    def sync(self) -> None:
        self._disk._enter("sync")
        self._contents.sync()


@dataclass(slots=True, eq=False)
class _Contents:
    """The bytes of one file: as they are, and as they were when last synced."""

    modified_ms: int = 0
    data: bytearray = field(default_factory=bytearray)
    durable: bytearray = field(default_factory=bytearray)
    shared_size: int = 0  # data and durable agree up to here
    is_cold: bool = False

    def append(self, more: memoryview, now_ms: int) -> None:
        self.data += more
        self.modified_ms = now_ms

    def truncate(self, size: int) -> None:
        self.data[size:] = bytes(max(size - len(self.data), 0))
        self.shared_size = min(self.shared_size, size)

    def sync(self) -> None:
        # Only what was added is copied: logs are synced often and are long.
        del self.durable[self.shared_size :]
        self.durable += memoryview(self.data)[self.shared_size :]
        self.shared_size = len(self.data)

    def used_bytes(self) -> int:
        return len(self.data)

    def after_power_loss(self, choice: Choice, lost_bytes_are_zero: bool) -> "_Contents":
        was_cut = self.shared_size < len(self.durable)
        survived = choice(len(self.data) - self.shared_size + was_cut)
        if was_cut and survived == 0:
            data = bytearray(self.durable)
        else:
            data = self.data[: self.shared_size + survived - was_cut]
            if lost_bytes_are_zero:
                data += bytes(len(self.data) - len(data))
        return _Contents(self.modified_ms, data, bytearray(data), len(data))


@dataclass(slots=True, eq=False)
class _Directory:
    """The names in one directory: as they are, as last synced, and the steps between."""

    names: "dict[str, _Node]" = field(default_factory=dict)
    durable: "dict[str, _Node]" = field(default_factory=dict)
    changes: "list[dict[str, _Node | None]]" = field(default_factory=list)
    modified_ms: int = 0

    def change(self, change: "dict[str, _Node | None]") -> None:
        self.changes.append(change)
        _apply(change, self.names)

    def sync(self) -> None:
        self.durable = dict(self.names)
        self.changes.clear()

    def used_bytes(self) -> int:
        return sum(node.used_bytes() for node in self.names.values())

    def after_power_loss(self, choice: Choice, lost_bytes_are_zero: bool) -> "_Directory":
        names = dict(self.durable)
        for change in self.changes[: choice(len(self.changes))]:
            _apply(change, names)
        survivors: dict[str, _Node] = {
            name: node.after_power_loss(choice, lost_bytes_are_zero)
            for name, node in sorted(names.items())
        }
        return _Directory(survivors, dict(survivors))


_Node = _Contents | _Directory


def _check_replaceable(replaced: _Node | None, node: _Node, path: str) -> None:
    if replaced is None or replaced is node:
        return
    if isinstance(node, _Directory) and not isinstance(replaced, _Directory):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    if isinstance(replaced, _Directory) and not isinstance(node, _Directory):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if isinstance(replaced, _Directory) and replaced.names:
        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)


def _apply(change: dict[str, _Node | None], names: dict[str, _Node]) -> None:
    for name, node in change.items():
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


def _entry(name: str, node: _Node) -> DirectoryEntry:
    is_directory = isinstance(node, _Directory)
    return DirectoryEntry(
        name, 0 if is_directory else node.used_bytes(), node.modified_ms, is_directory
    )


def _parts(path: str) -> list[str]:
    assert path.startswith("/"), f"paths are absolute, not {path!r}"
    return [part for part in path.split("/") if part]
