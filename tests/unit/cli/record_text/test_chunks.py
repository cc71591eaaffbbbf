"""Bytes of a file, pipe or terminal as they come."""

import asyncio
import os
from pathlib import Path

import pytest

from moldau.cli.record_text.chunks import READ_BYTES, chunks


async def test_a_file_is_read_in_pieces(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * (READ_BYTES + 1))
    with file.open("rb") as opened:
        sizes = [len(data) async for data in chunks(opened.fileno())]
    assert sizes == [READ_BYTES, 1]


async def test_a_pipe_is_read_as_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    asyncio.get_running_loop().call_soon(os.write, writing, b"one\n")
    found = chunks(reading, prompt=">")
    assert await anext(found) == b"one\n"
    os.close(writing)
    assert [data async for data in found] == []
    os.close(reading)
    assert capsys.readouterr().out == ">>"
