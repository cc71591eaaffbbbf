"""Folders in which files appear as a whole, and stay after a crash."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from moldau.connect.connectors.holding import HeldPart

_UNFINISHED = ".unfinished-"
_DIGITS = 20


def folder_of(directory: str, part: HeldPart) -> str:
    """Where files of a partition are, as Hive names it."""
    return os.path.join(directory, part.topic, f"partition={part.partition}")


def name_of(offset: int) -> str:
    """In the order of offsets, as the order of texts."""
    return f"{offset:0{_DIGITS}}"


def unfinished_path(folder: str) -> str:
    """Of a file that no reader looks at."""
    return os.path.join(folder, f"{_UNFINISHED}{uuid.uuid4()}")


@contextmanager
def unfinished(folder: str) -> Iterator[str]:
    """The path of a file to write; what is left of it after the block is removed."""
    path = unfinished_path(folder)
    try:
        yield path
    finally:
        with suppress(FileNotFoundError):
            os.unlink(path)


def sync_folder(folder: str) -> None:
    """Have the names in it on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
