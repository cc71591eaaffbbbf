"""A bar that shows those who wait at a terminal how far the work is."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import moldau
from moldau.cli.terminal.progress import Bar, as_records, as_size, progress_bar, size_of
from moldau.testing.broker import EmbeddedBroker

CLEAR = "\r\x1b[K"


class Time:
    """A clock that is set by hand."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def bar(total: int | None, stream: io.StringIO) -> tuple[Bar, Time]:
    time = Time()
    return Bar(total, as_records, stream, time), time


def test_work_that_is_done_at_once_has_no_bar() -> None:
    stream = io.StringIO()
    quick, time = bar(100, stream)
    time.now_s = 0.4
    quick.advance(100)
    quick.clear()
    assert stream.getvalue() == ""


def test_the_bar_tells_share_speed_and_what_is_left() -> None:
    stream = io.StringIO()
    slow, time = bar(1000, stream)
    time.now_s = 2.0
    slow.advance(250)
    line = "######..................  25%  250 records of 1,000 records, 125 records/s, 0:06 left"
    assert stream.getvalue() == CLEAR + line
    slow.advance(1)  # too soon to be drawn
    slow.clear()
    slow.clear()
    assert stream.getvalue() == CLEAR + line + CLEAR


def test_without_a_total_only_the_amount_is_told() -> None:
    stream = io.StringIO()
    endless, time = bar(None, stream)
    time.now_s = 1.0
    endless.advance(1_500)
    assert stream.getvalue() == f"{CLEAR}1,500 records, 1,500 records/s"


def test_sizes_are_told_in_units_that_can_be_read() -> None:
    assert [as_size(each) for each in (12, 1536, 3 << 20, 5 << 30)] == [
        "12 B",
        "1.5 KiB",
        "3.0 MiB",
        "5.0 GiB",
    ]


def test_the_size_of_a_file_is_known_that_of_a_pipe_is_not(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("12345")
    with file.open() as opened:
        assert size_of(opened.fileno()) == 5
    reading, writing = os.pipe()
    with os.fdopen(reading) as opened:
        assert size_of(opened.fileno()) is None
    os.close(writing)


def test_there_is_no_bar_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(1, as_size) as none:
        assert none is None


SLOW = """
import sys, time
from moldau.cli.terminal.progress import as_size, progress_bar
with progress_bar(4, as_size, prints_result=len(sys.argv) > 1) as bar:
    print(bar is not None, flush=True)
"""


@pytest.mark.parametrize("prints_result", [False, True])
@pytest.mark.parametrize("is_output_seen", [False, True])
def test_a_terminal_has_a_bar_unless_the_result_is_seen_there(
    prints_result: bool, is_output_seen: bool
) -> None:
    ours, terminal = pty.openpty()
    try:
        arguments = ["prints"] if prints_result else []
        done = subprocess.run(
            [sys.executable, "-c", SLOW, *arguments],
            stdout=terminal if is_output_seen else subprocess.PIPE,
            stderr=terminal,
            env={**os.environ, "PYTHONPATH": str(Path(moldau.__file__).parents[1])},
            check=True,
        )
        said = os.read(ours, 100) if is_output_seen else done.stdout
    finally:
        os.close(ours)
        os.close(terminal)
    assert said.split() == [str(not (prints_result and is_output_seen)).encode()]


IMPATIENT = """
import sys
from moldau.cli.main import main
from moldau.cli.terminal import progress
progress._PATIENCE_S = 0.0
sys.exit(main(sys.argv[1:]))
"""


def test_a_file_that_is_sent_shows_a_bar_in_a_terminal(
    broker: EmbeddedBroker, bootstrap: str, tmp_path: Path
) -> None:
    lines = tmp_path / "lines"
    lines.write_bytes((b"x" * 1023 + b"\n") * 2100)
    ours, terminal = pty.openpty()
    try:
        with lines.open() as source:
            subprocess.run(
                [sys.executable, "-c", IMPATIENT, "console-producer", bootstrap, "--topic", "bar"],
                stdin=source,
                stdout=subprocess.DEVNULL,
                stderr=terminal,
                env={**os.environ, "PYTHONPATH": str(Path(moldau.__file__).parents[1])},
                check=True,
            )
        assert b" of 2.1 MiB, " in os.read(ours, 1000)
    finally:
        os.close(ours)
        os.close(terminal)
