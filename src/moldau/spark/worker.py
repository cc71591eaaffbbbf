"""What a Python worker of Spark does once, before its first task."""

import ctypes
import gc

_is_settled = False
# Parameters of glibc's mallopt.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
KEPT_BYTES_MAX = 64 << 20
"""Of what was freed, a worker keeps so much for what comes next."""
_MAPPED_BYTES_MIN = 32 << 20  # the most that all versions of glibc take


def settle() -> None:
    """Take all that was imported out of the garbage collector's sight; let freed memory stay.

    Spark's daemon has a worker collect garbage after every task, and for small tasks that takes
    longer than the task: tens of milliseconds for what never goes away.
    """
    global _is_settled  # noqa: PLW0603 - of this process, as the collector is
    if not _is_settled:
        gc.collect()
        gc.freeze()
        keep_memory()
        _is_settled = True


def keep_memory() -> None:
    """Use freed memory again, which glibc would give back to the system.

    Buffers of some megabytes are made and freed all the time, and memory that comes anew from the
    system costs a page fault for every 4 KiB. Other C libraries are left as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, KEPT_BYTES_MAX)
        mallopt(_MMAP_THRESHOLD, _MAPPED_BYTES_MIN)
