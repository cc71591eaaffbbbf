"""One instance of an application runs with a checkpoint; another waits until it is gone.

Two would fence each other's transactions for ever. More work is shared by more of Spark's
executors, not by more instances.
"""

import fcntl
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from moldau.streams.run.manifest import local_directory

FILE = "instance.lock"
_LOOK_S = 0.5


@contextmanager
def only_instance(
    checkpoint: str, stop: threading.Event, report: Callable[[str], None]
) -> Iterator[bool]:
    """Wait for the right to run with a checkpoint; False if `stop` was set before.

    The system gives the lock back when a process ends, however it does. A checkpoint that is not
    on a file system of this machine has no lock.
    """
    directory = local_directory(checkpoint)
    if directory is None:
        yield True
        return
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / FILE).open("a+") as file:
        yield _taken(file, stop, report)


def _taken(file: TextIO, stop: threading.Event, report: Callable[[str], None]) -> bool:
    has_reported = False
    while not stop.is_set():
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not has_reported:
                file.seek(0)
                owner = file.read().strip() or "another process"
                report(
                    f"stands by: {owner} runs with this checkpoint, and is followed when it ends"
                )
                has_reported = True
            stop.wait(_LOOK_S)
            continue
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        if has_reported:
            report("takes over")
        return True
    return False


def owner_of(checkpoint: str) -> str | None:
    """Who runs with a checkpoint just now, if anybody does."""
    directory = local_directory(checkpoint)
    if directory is None or not (directory / FILE).exists():
        return None
    with (directory / FILE).open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return file.read().strip() or "another process"
    return None
