"""The command's part in a backup: files that stay as they are while they are copied."""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from moldau.cli.backups.answering import ANSWER, POLL_S, REQUEST
from moldau.cli.backups.files import LINKS, Sizes, listed, remove_links
from moldau.cli.terminal.failure import CommandFailed
from moldau.coordination.journal import FILE_NAME as STORE
from moldau.log.directory import LOCK
from moldau.log.meta_properties import FILE_NAME as META
from moldau.runtime.disk import File, PosixDisk

_LOCK = ".backup.lock"
_ANSWER_S = 60.0


class Frozen(NamedTuple):
    """One log directory at the instant of the backup."""

    place: str
    """Where the files are now."""
    sizes: Sizes


@contextmanager
def frozen_directories(directories: Sequence[str]) -> Iterator[list[Frozen]]:
    """What a broker has on disk, whether it runs or not; one backup at a time."""
    first = directories[0]
    for directory in directories:
        if not os.path.exists(f"{directory}/{META}"):
            raise CommandFailed(f"{directory} is no log directory: there is no {META} in it")
    if not os.path.exists(f"{first}/{STORE}"):
        raise CommandFailed(
            f"{first} has no {STORE}: the broker belongs to a cluster on ZooKeeper, where replicas "
            "on other brokers are the copy; name the first of log.dirs first if it does not"
        )
    with _locked(f"{first}/{_LOCK}", "another backup of it is under way"):
        stopped = _lock_stopped(directories)
        if stopped:
            yield [Frozen(directory, listed(directory)) for directory in directories]
            return
        try:
            yield _asked(directories)
        finally:
            for directory in directories:
                remove_links(directory)


def _lock_stopped(directories: Sequence[str]) -> list[File]:
    """The locks of a broker that does not run; none of one that does."""
    try:
        return [PosixDisk().lock(f"{directory}/{LOCK}") for directory in directories]
    except BlockingIOError:
        return []


@contextmanager
def _locked(path: str, refusal: str) -> Iterator[None]:
    try:
        held = PosixDisk().lock(path)
    except BlockingIOError:
        raise CommandFailed(f"{os.path.dirname(path)}: {refusal}") from None
    try:
        yield
    finally:
        os.remove(path)
        del held


def _asked(directories: Sequence[str]) -> list[Frozen]:
    first = directories[0]
    answer_path, request_path = f"{first}/{ANSWER}", f"{first}/{REQUEST}"
    with suppress(FileNotFoundError):
        os.remove(answer_path)
    with open(request_path, "w", encoding="utf-8"):
        pass
    deadline = time.monotonic() + _ANSWER_S
    while not os.path.exists(answer_path):
        if time.monotonic() > deadline:
            with suppress(FileNotFoundError):
                os.remove(request_path)
            raise CommandFailed(
                f"the process that uses {first} did not answer within {_ANSWER_S:.0f} s: only "
                "`moldau serve` does; stop it, and back up its files then"
            )
        time.sleep(POLL_S / 10)
    with open(answer_path, encoding="utf-8") as file:
        answer = json.load(file)
    os.remove(answer_path)
    if "error" in answer:
        raise CommandFailed(f"the broker could not prepare a backup: {answer['error']}")
    return _frozen(directories, answer["directories"])


def _frozen(directories: Sequence[str], answer: Sequence[tuple[str, Sizes]]) -> list[Frozen]:
    """The directories as the broker knows them, which may be others than were named."""
    if len(answer) != len(directories):
        known = ",".join(path for path, _ in answer)
        raise CommandFailed(f"the broker's log.dirs are {known}: name all of them with --data")
    frozen = [
        Frozen(f"{directory}/{LINKS}", sizes)
        for directory, (_, sizes) in zip(directories, answer, strict=True)
    ]
    store = f"{directories[0]}/{LINKS}/{STORE}"
    frozen[0].sizes[STORE] = os.path.getsize(store)
    return frozen
