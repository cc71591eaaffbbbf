"""Locks in the hands of another thread, as a fork may find them."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def held_elsewhere(*locks: threading.Lock) -> Iterator[None]:
    """In a child that is made meanwhile, nobody is left to release them."""
    are_held, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with ExitStack() as stack:
            for lock in locks:
                stack.enter_context(lock)
            are_held.set()
            may_end.wait()

    holder = threading.Thread(target=hold, daemon=True)
    holder.start()
    are_held.wait()
    yield
    may_end.set()
    holder.join()
