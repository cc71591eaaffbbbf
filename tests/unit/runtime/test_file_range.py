"""File ranges: a stretch of a file that knows its length."""

from pathlib import Path

from moldau.runtime.disk import PosixDisk
from moldau.runtime.file_range import FileRange


def test_a_range_reads_its_own_bytes_and_keeps_the_file_open(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    path.write_bytes(b"0123456789")
    part = FileRange(PosixDisk().open_read(str(path)), 2, 5)
    path.unlink()
    assert len(part) == 5
    assert part.read() == b"23456"
    assert part.fileno() >= 0
