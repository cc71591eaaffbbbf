"""The posix disk does what the port promises."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from moldau.runtime.disk import PosixDisk, write_atomically
from moldau.testing.disk import MemoryDisk


@pytest.fixture
def disk() -> PosixDisk:
    return PosixDisk()


def test_appends_go_to_the_end_even_after_the_position_was_moved(
    disk: PosixDisk, tmp_path: Path
) -> None:
    file = disk.open_append(str(tmp_path / "a"))
    file.append(b"one")
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    file.append(bytearray(b"two"))
    assert file.read(0, 100) == b"onetwo"
    assert file.size() == 6


def test_a_short_write_is_finished(
    disk: PosixDisk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = disk.open_append(str(tmp_path / "a"))
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, bytes(data[:3])))
    file.append(b"0123456789")
    assert file.read(0, 100) == b"0123456789"


def test_a_write_that_fails_half_way_raises_and_leaves_a_prefix(
    disk: PosixDisk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = disk.open_append(str(tmp_path / "a"))
    write = os.write
    answers = [3]

    def write_then_fail(descriptor: int, data: bytes) -> int:
        if not answers:
            raise OSError(28, "No space left on device")
        return write(descriptor, bytes(data[: answers.pop()]))

    monkeypatch.setattr(os, "write", write_then_fail)
    with pytest.raises(OSError, match="No space"):
        file.append(b"0123456789")
    assert file.read(0, 100) == b"012"


def test_a_short_read_is_finished(
    disk: PosixDisk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    file = disk.open_read(str(tmp_path / "a"))
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, position: pread(fd, min(size, 3), position))
    assert file.read(1, 8) == b"12345678"
    assert file.read(8, 8) == b"89"
    assert file.read(10, 8) == b""


def test_cached_bytes_are_read_without_waiting(disk: PosixDisk, tmp_path: Path) -> None:
    file = disk.open_append(str(tmp_path / "a"))
    file.append(b"0123456789")
    assert file.read_cached(2, 4) == b"2345"
    assert file.read_cached(8, 4) == b"89"
    assert file.read_cached(10, 4) == b""


def test_bytes_that_are_not_cached_are_refused(
    disk: PosixDisk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = disk.open_append(str(tmp_path / "a"))
    file.append(b"0123456789")

    def nothing_cached(*_: object) -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "preadv", nothing_cached)
    assert file.read_cached(2, 4) is None
    monkeypatch.setattr(os, "preadv", lambda *_: 2)
    assert file.read_cached(2, 4) is None


def test_a_file_system_that_cannot_tell_is_simply_read(
    disk: PosixDisk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = disk.open_append(str(tmp_path / "a"))
    file.append(b"0123456789")

    def fail_with(number: int) -> None:
        def preadv(*_: object) -> int:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "preadv", preadv)

    fail_with(errno.EOPNOTSUPP)
    assert file.read_cached(2, 4) == b"2345"
    fail_with(errno.EIO)
    with pytest.raises(OSError, match="Input/output"):
        file.read_cached(2, 4)


def test_an_open_file_outlives_its_name(disk: PosixDisk, tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    disk.open_append(path).append(b"old")
    reader = disk.open_read(path)
    disk.remove(path)
    disk.open_append(path).append(b"new")
    assert reader.read(0, 3) == b"old"


def test_a_descriptor_is_closed_with_its_last_reference(disk: PosixDisk, tmp_path: Path) -> None:
    file = disk.open_append(str(tmp_path / "a"))
    descriptor = file.fileno()
    del file
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_truncation_cuts_the_end(disk: PosixDisk, tmp_path: Path) -> None:
    file = disk.open_append(str(tmp_path / "a"))
    file.append(b"0123456789")
    file.truncate(4)
    file.append(b"x")
    file.sync()
    assert disk.read_file(str(tmp_path / "a")) == b"0123x"


def test_a_listing_tells_name_size_kind_and_time(disk: PosixDisk, tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    disk.open_append(path).append(b"0123")
    disk.set_modified(path, 1_600_000_000_123)
    disk.make_directory(str(tmp_path / "d"))
    disk.make_directory(str(tmp_path / "d"))
    entries = {entry.name: entry for entry in disk.list_directory(str(tmp_path))}
    assert entries["a"] == ("a", 4, 1_600_000_000_123, False)
    assert entries["d"].is_directory
    assert disk.status(path) == entries["a"]
    assert disk.status(str(tmp_path / "d")) == entries["d"]
    assert disk.status(str(tmp_path / "missing")) is None


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_a_directory_is_ours_alone_whatever_the_umask(
    disk: PosixDisk, tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        disk.make_directory(str(tmp_path / "d"))
    finally:
        os.umask(before)
    assert (tmp_path / "d").stat().st_mode & 0o777 == 0o700


def test_a_directory_that_is_there_keeps_its_mode(disk: PosixDisk, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d").chmod(0o750)
    disk.make_directory(str(tmp_path / "d"))
    assert (tmp_path / "d").stat().st_mode & 0o777 == 0o750


def test_removing_what_is_gone_is_fine(disk: PosixDisk, tmp_path: Path) -> None:
    disk.make_directory(str(tmp_path / "d"))
    disk.remove_directory(str(tmp_path / "d"))
    disk.remove_directory(str(tmp_path / "d"))
    disk.remove(str(tmp_path / "a"))
    assert disk.list_directory(str(tmp_path)) == []


def test_an_atomic_write_replaces_the_file_and_leaves_nothing_beside_it(
    disk: PosixDisk, tmp_path: Path
) -> None:
    path = str(tmp_path / "checkpoint")
    (tmp_path / "checkpoint.tmp").write_bytes(b"left by a crash")
    write_atomically(disk, path, b"first")
    write_atomically(disk, path, b"second")
    assert disk.read_file(path) == b"second"
    assert [entry.name for entry in disk.list_directory(str(tmp_path))] == ["checkpoint"]


def test_a_file_may_be_replaced_without_a_sync() -> None:
    disk = MemoryDisk()
    write_atomically(disk, "/checkpoint", b"first", is_durable=False)
    assert disk.read_file("/checkpoint") == b"first"
    assert not {"sync", "sync_directory"} & set(disk.calls)


def test_free_space_is_told(disk: PosixDisk, tmp_path: Path) -> None:
    assert 0 < disk.free_bytes(str(tmp_path)) <= disk.total_bytes(str(tmp_path))


def test_a_lock_keeps_another_process_out_until_it_is_let_go(
    disk: PosixDisk, tmp_path: Path
) -> None:
    path = str(tmp_path / ".lock")
    attempt = (
        "import sys; from moldau.runtime.disk import PosixDisk\n"
        "try: PosixDisk().lock(sys.argv[1])\n"
        "except BlockingIOError: sys.exit(3)"
    )

    def other_process() -> int:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(
            [sys.executable, "-c", attempt, path], env=environment, check=False
        ).returncode

    held = disk.lock(path)
    assert other_process() == 3
    del held
    assert other_process() == 0
