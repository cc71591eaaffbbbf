"""One maker at a time: a file lock around every change of the environment."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def one_at_a_time(lock_file: Path) -> Iterator[None]:
    """Wait, and say so, while another process makes the environment.

    The kernel drops the lock when its owner dies, so a killed set-up blocks nobody.
    """
    with lock_file.open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            owner = lock.read().strip() or "unknown"
            print(f"moldau: waiting for the set-up in process {owner}", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
