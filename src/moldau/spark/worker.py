"""What a Python worker of Spark does once, before its first task."""

import gc

_is_settled = False


def settle() -> None:
    """Take all that was imported out of the garbage collector's sight.

    Spark's daemon has a worker collect garbage after every task, and for small tasks that takes
    longer than the task: tens of milliseconds for what never goes away.
    """
    global _is_settled  # noqa: PLW0603 - of this process, as the collector is
    if not _is_settled:
        gc.collect()
        gc.freeze()
        _is_settled = True
