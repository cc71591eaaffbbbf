"""What waits to be written; connections with files are in test_connection_files.py."""

from pathlib import Path
from typing import Any

import pytest

from moldau.net import outgoing
from moldau.runtime import native
from moldau.runtime.disk import PosixDisk
from moldau.runtime.file_range import FileRange

COMPILED = native.kernel("moldau.net._outgoing", "moldau.net.outgoing")
SENDFILE_MIN = 100


class Line:
    """A transport that writes down what it is given."""

    def __init__(self) -> None:
        self.written: list[tuple[str, bytes]] = []
        self.takes = 10**6
        self.is_closed = False

    def is_closing(self) -> bool:
        return self.is_closed

    def write(self, data: bytes) -> None:
        self.written.append(("write", bytes(data)))

    def write_before_file(self, data: bytes) -> None:
        self.written.append(("before a file", bytes(data)))

    def send_file_at_once(self, piece: FileRange) -> int:
        size = min(self.takes, piece.size)
        self.written.append(("file", piece.part(piece.position, size).read()))
        return size


@pytest.fixture
def line() -> Line:
    return Line()


@pytest.fixture(params=[outgoing, COMPILED], ids=["source", "compiled"])
def gathered(request: pytest.FixtureRequest, line: Line) -> Any:
    made = request.param.OutgoingAnswers(SENDFILE_MIN)
    made.attach(line)
    return made


def file_of(path: Path, size: int) -> FileRange:
    path.write_bytes(bytes(range(250)) * (size // 250 + 1))
    return FileRange(PosixDisk().open_read(str(path)), 0, size)


def test_answers_are_written_together_and_once(gathered: Any, line: Line) -> None:
    assert gathered.take([b"one", b"two"])
    gathered.add(b"three")
    gathered.flush()
    gathered.flush()
    assert line.written == [("write", b"onetwothree")]


def test_nothing_is_written_to_one_that_closes(gathered: Any, line: Line) -> None:
    gathered.add(b"one")
    line.is_closed = True
    gathered.flush()
    assert line.written == []


def test_what_is_forgotten_is_not_written(gathered: Any, line: Line) -> None:
    gathered.add(b"one")
    gathered.forget()
    gathered.flush()
    assert line.written == []


def test_short_ranges_are_copied_and_long_ones_are_not_taken(
    gathered: Any, line: Line, tmp_path: Path
) -> None:
    short = file_of(tmp_path / "short", SENDFILE_MIN - 1)
    assert gathered.take([b"head", short])
    assert not gathered.take([b"left", file_of(tmp_path / "long", SENDFILE_MIN)])
    gathered.flush()
    assert line.written == [("write", b"head" + short.read())]


def test_a_file_is_sent_behind_its_head_as_far_as_it_goes(
    gathered: Any, line: Line, tmp_path: Path
) -> None:
    piece = file_of(tmp_path / "file", 1_000)
    assert gathered.send_at_once([b"head", piece]) == []
    line.takes = 400
    (rest, tail) = gathered.send_at_once([b"head", piece, b"tail"])
    assert (rest.position, rest.size, tail) == (400, 600, b"tail")
    whole = piece.read()
    assert line.written == [
        *(("before a file", b"head"), ("file", whole)),
        *(("before a file", b"head"), ("file", whole[:400])),
    ]
