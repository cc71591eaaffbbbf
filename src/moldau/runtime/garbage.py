"""The cyclic collector of a process that is a broker's, or a worker's, alone.

A broker in another program's process, as in a test, leaves the collector as it finds it.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# A request of a hundred thousand names is as many objects for a moment. With the thresholds of
# Python the collector would look at all of them several times, for tens of milliseconds each.
THRESHOLDS = (50_000, 20, 10)

_is_owned = False


@contextmanager
def owned_collector() -> Iterator[Callable[[], None]]:
    """Collect nothing during the start, and seldom afterwards: call what this yields in between."""
    global _is_owned  # noqa: PLW0603 - a process has one collector
    was_enabled, thresholds = gc.isenabled(), gc.get_threshold()

    def started() -> None:
        keep_loaded()
        gc.set_threshold(*THRESHOLDS)
        gc.enable()

    _is_owned = True
    # Nothing that is made during the start is garbage.
    gc.disable()
    try:
        yield started
    finally:
        _is_owned = False
        gc.unfreeze()
        gc.set_threshold(*thresholds)
        (gc.enable if was_enabled else gc.disable)()


def keep_loaded() -> None:
    """What is loaded now stays: let the collector not walk through it over and over."""
    if _is_owned:
        gc.freeze()
