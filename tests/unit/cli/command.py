"""Runs a command line of ours in this process, and says what it printed."""

import io
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from moldau.cli.main import main


class Done(NamedTuple):
    """A command that has ended."""

    code: int
    stdout: str
    stderr: str


def run(*arguments: str, stdin: str | bytes = "") -> Done:
    """Run `moldau` with these arguments."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    with _streams(data) as (out, err):
        code = main(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        return Done(code, out.getvalue().decode(), err.getvalue().decode())


@contextmanager
def _streams(data: bytes) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    before = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    with tempfile.TemporaryFile() as file, io.TextIOWrapper(file, encoding="utf-8") as stdin:
        file.write(data)
        file.seek(0)
        sys.stdin = stdin
        sys.stdout = io.TextIOWrapper(out, encoding="utf-8", newline="")
        sys.stderr = io.TextIOWrapper(err, encoding="utf-8", newline="")
        try:
            yield out, err
        finally:
            sys.stdin, sys.stdout, sys.stderr = before
