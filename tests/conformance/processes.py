"""Processes that were started here, by their parents."""

from pathlib import Path


def children_of(parent: int, word: bytes) -> list[int]:
    """The children of a process whose command has a word."""
    tasks = Path(f"/proc/{parent}/task").glob("*/children")
    children = [int(child) for each in tasks for child in _read(each).split()]
    return [each for each in children if word in _read(Path(f"/proc/{each}/cmdline"))]


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""  # it has ended meanwhile
