"""File ranges: a stretch of a file that knows its length."""

import os
from pathlib import Path

from moldau.runtime.disk import PosixDisk, PosixFile
from moldau.runtime.file_range import FileRange
from moldau.testing.disk import MemoryDisk


def test_a_range_reads_its_own_bytes_and_keeps_the_file_open(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    path.write_bytes(b"0123456789")
    part = FileRange(PosixDisk().open_read(str(path)), 2, 5)
    path.unlink()
    assert len(part) == 5
    assert part.read() == b"23456"
    assert part.fileno() >= 0


def test_a_cold_range_is_read_ahead_before_it_is_sent() -> None:
    disk = MemoryDisk()
    disk.open_append("/segment").append(bytes(range(256)) * 10)
    part = FileRange(disk.open_read("/segment"), 5, 2000)
    assert part.seems_cached()
    disk.chill("/segment")
    assert not part.seems_cached()
    assert part.read_cached() is None
    part.read_ahead()
    assert part.seems_cached()
    assert part.read_cached() == part.read()


def test_all_of_a_large_range_is_read_ahead(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    path.write_bytes(bytes(5 << 20))
    file = RecordingFile(os.open(path, os.O_RDONLY))
    FileRange(file, 100, (3 << 20) + 7).part(200, (2 << 20) + 7).read_ahead()
    assert sum(size for _, size in file.reads) == (2 << 20) + 7
    assert file.reads[0][0] == 200


class RecordingFile(PosixFile):
    """Notes what is read."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor)
        self.reads: list[tuple[int, int]] = []

    def read(self, position: int, size: int) -> bytes:
        self.reads.append((position, size))
        return super().read(position, size)


def test_bytes_are_read_into_memory_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    on_disk = PosixDisk().open_read(str(path))
    in_memory = MemoryDisk().open_append("/file")
    in_memory.append(b"0123456789")
    for file in (on_disk, in_memory):
        buffer = memoryview(bytearray(4))
        assert FileRange(file, 2, 100).read_into(buffer) == 4
        assert bytes(buffer) == b"2345"
        assert FileRange(file, 8, 100).read_into(buffer) == 2
        assert FileRange(file, 0, 1).read_into(buffer) == 1
