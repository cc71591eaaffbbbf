"""Answers with stretches of files: sent, read, or the end of their connection."""

import asyncio
import errno
import os
import threading
from pathlib import Path

import pytest

from moldau.net.answer import Part
from moldau.net.connection import Connection
from moldau.runtime.disk import PosixDisk, PosixFile
from moldau.runtime.file_range import FileRange
from unit.net.test_connection import connect, form, framed, listening, read_frame

__all__ = ["form"]  # the fixture lets connections be tried in all their forms


@pytest.mark.parametrize("size", [10, 40_000, 5_000_000])
async def test_file_ranges_are_sent_between_ordinary_parts(tmp_path: Path, size: int) -> None:
    content = bytes(range(256)) * (size // 256 + 2)
    path = tmp_path / "segment"
    path.write_bytes(content)
    file = PosixDisk().open_read(str(path))

    async def respond(_: Connection, __: memoryview) -> list[Part]:
        return [(size + 4).to_bytes(4, "big"), b"<<", FileRange(file, 100, size), b">>"]

    async with listening(respond) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"fetch") * 2)
        expected = b"<<" + content[100 : 100 + size] + b">>"
        assert await read_frame(reader) == expected
        assert await read_frame(reader) == expected
        writer.close()


class ColdFile(PosixFile):
    """Not in the page cache until it is read, which may only happen off the loop."""

    is_cold = True

    def read_cached(self, position: int, size: int) -> bytes | None:
        return None if self.is_cold else super().read_cached(position, size)

    def read(self, position: int, size: int) -> bytes:
        assert threading.current_thread() is not threading.main_thread()
        self.is_cold = False
        return super().read(position, size)


@pytest.mark.parametrize("size", [1000, 200_000])
async def test_what_is_not_in_the_page_cache_is_read_off_the_loop(
    tmp_path: Path, size: int
) -> None:
    path = tmp_path / "segment"
    path.write_bytes(bytes(size))
    file = ColdFile(os.open(path, os.O_RDONLY))

    async def respond(_: Connection, __: memoryview) -> list[Part]:
        return [(size + 4).to_bytes(4, "big"), b"<<", FileRange(file, 0, size), b">>"]

    async with listening(respond) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"fetch"))
        assert await read_frame(reader) == b"<<" + bytes(size) + b">>"
        assert not file.is_cold
        writer.close()


class BrokenFile(PosixFile):
    """On a disk that fails."""

    def read_cached(self, position: int, size: int) -> bytes | None:
        raise OSError(errno.EIO, "broken")


async def test_a_disk_that_fails_ends_the_connection_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    path.write_bytes(bytes(100))
    file = BrokenFile(os.open(path, os.O_RDONLY))

    def respond(_: Connection, frame: memoryview) -> list[Part]:
        if bytes(frame) == b"fetch":
            return [(100).to_bytes(4, "big"), FileRange(file, 0, 100)]
        return [framed(b"fine")]

    async with listening(respond) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"fetch"))
        assert await reader.read() == b""
        writer.close()
        reader, writer = await connect(listener)
        writer.write(framed(b"other"))
        assert await read_frame(reader) == b"fine"
        writer.close()


async def test_a_file_shorter_than_promised_ends_the_connection(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    path.write_bytes(b"x" * 50_000)
    file = PosixDisk().open_read(str(path))

    async def respond(_: Connection, __: memoryview) -> list[Part]:
        return [(60_000).to_bytes(4, "big"), FileRange(file, 0, 60_000)]

    async with listening(respond) as listener:
        reader, writer = await connect(listener)
        writer.write(framed(b"fetch"))
        async with asyncio.timeout(5):
            assert len(await reader.read()) == 50_004
        writer.close()
