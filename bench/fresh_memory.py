"""Memory that a virtual machine has never touched, which costs whoever touches it first.

The first write to a page has to wait for the host, here for 2.4 s per GB instead of 0.5 s. Files
that a broker writes take such pages as long as there are any, so its figures would depend on what
ran before. A benchmark that compares processor time therefore touches all free memory once.
"""

import mmap
import subprocess
import sys
from functools import cache
from pathlib import Path

_LEFT_BYTES = 1 << 30
_TOUCHED_MAX_BYTES = 64 << 30
_PORTION_BYTES = 1 << 28


@cache
def touch_free_memory() -> None:
    """Write once to each page that is free now, in a process that gives them back."""
    touch = "from bench.fresh_memory import touch; touch()"
    subprocess.run([sys.executable, "-c", touch], check=True)


def touch() -> None:
    """Take the free memory, and write to each page of it."""
    size = min(_free_bytes() - _LEFT_BYTES, _TOUCHED_MAX_BYTES)
    ones = bytes([1]) * (_PORTION_BYTES // mmap.PAGESIZE)
    held = []
    while size >= _PORTION_BYTES:
        portion = mmap.mmap(-1, _PORTION_BYTES)
        with memoryview(portion) as view, view[:: mmap.PAGESIZE] as pages:
            pages[:] = ones
        held.append(portion)
        size -= _PORTION_BYTES


def _free_bytes() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemFree:"):
            return int(line.split()[1]) << 10
    raise ValueError("/proc/meminfo does not say how much memory is free")
