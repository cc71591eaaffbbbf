"""A backup on disk: a directory with a numbered copy of each log directory, and a list of them.

The list, `backup.json`, is written last: a directory without it is no backup. It has the size
and the SHA-256 of every file, which restoring compares.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypedDict

from moldau.cli.backups.asking import Frozen
from moldau.cli.terminal.failure import CommandFailed

LIST = "backup.json"
_VERSION = 1
_CHUNK = 1024 * 1024


class Copied(TypedDict):
    """What the list says of one file."""

    size: int
    sha256: str


Directories = list[dict[str, Copied]]
"""The files of each log directory, by their paths in it."""


class Total(NamedTuple):
    """How much was copied."""

    files: int
    size: int


def write_archive(frozen: Sequence[Frozen], target: str, *, created: str) -> Total:
    """Copy frozen directories to a new directory."""
    _make_empty(target)
    directories: Directories = []
    for number, each in enumerate(frozen):
        place = f"{target}/{number}"
        _make_folders(place, each.sizes)
        copied: dict[str, Copied] = {}
        for name, size in each.sizes.items():
            sha256 = _copy(f"{each.place}/{name}", f"{place}/{name}", size)
            copied[name] = {"size": size, "sha256": sha256}
        directories.append(copied)
    content = {"version": _VERSION, "created": created, "directories": directories}
    with open(f"{target}/{LIST}", "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    return _total(directories)


def restore_archive(source: str, targets: Sequence[str]) -> Total:
    """Copy a backup to new log directories; what differs from the list ends it."""
    directories = _read_list(source)
    if len(directories) != len(targets):
        raise CommandFailed(
            f"{source} is of {len(directories)} log directories, not {len(targets)}: "
            "name as many with --data"
        )
    for target in targets:
        _make_empty(target)
    for number, (files, target) in enumerate(zip(directories, targets, strict=True)):
        _make_folders(target, files)
        for name, about in files.items():
            path = f"{source}/{number}/{name}"
            if _copy(path, f"{target}/{name}", about["size"]) != about["sha256"]:
                raise CommandFailed(f"{path} is damaged: its SHA-256 is not that of {LIST}")
    return _total(directories)


def _read_list(source: str) -> Directories:
    try:
        with open(f"{source}/{LIST}", encoding="utf-8") as file:
            content = json.load(file)
    except FileNotFoundError:
        raise CommandFailed(f"{source} is no complete backup: there is no {LIST} in it") from None
    if content["version"] != _VERSION:
        raise CommandFailed(f"{source} has version {content['version']} of the format, not 1")
    directories: Directories = content["directories"]
    return directories


def _make_empty(target: str) -> None:
    os.makedirs(target, 0o700, exist_ok=True)
    if os.listdir(target):
        raise CommandFailed(f"{target} is not empty: name a new directory")


def _make_folders(place: str, names: Iterable[str]) -> None:
    folders = {os.path.dirname(name) for name in names}
    for folder in sorted(folders | {""}):
        os.makedirs(f"{place}/{folder}", 0o700, exist_ok=True)


def _copy(source: str, target: str, size: int) -> str:
    """Copy the first `size` bytes, durably, with the time of the file; returns their SHA-256."""
    digest, left = hashlib.sha256(), size
    with open(source, "rb") as reading, open(target, "xb", opener=_private) as writing:
        while left:
            chunk = reading.read(min(left, _CHUNK))
            if not chunk:
                raise CommandFailed(f"{source} ends {left} bytes early: it was cut meanwhile")
            digest.update(chunk)
            writing.write(chunk)
            left -= len(chunk)
        writing.flush()
        os.fsync(writing.fileno())
        modified = os.fstat(reading.fileno()).st_mtime_ns
    os.utime(target, ns=(modified, modified))
    return digest.hexdigest()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _total(directories: Directories) -> Total:
    sizes = [about["size"] for files in directories for about in files.values()]
    return Total(len(sizes), sum(sizes))
