"""The directory where downloads and compiled Java programs outlive a test run."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLONE = Path(__file__).resolve().parents[3]


def cache_directory() -> Path:
    """`MOLDAU_CACHE`, or `.cache` in the clone."""
    directory = Path(os.environ.get("MOLDAU_CACHE") or CLONE / ".cache")
    directory.mkdir(parents=True, exist_ok=True)
    return directory


@contextmanager
def exclusive(name: str) -> Iterator[None]:
    """Hold the cache's lock called `name`: parallel test workers take turns."""
    with (cache_directory() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
