"""Methods without `await`."""

import pytest

from moldau.client.blocking.loop_thread import LoopThread
from moldau.client.blocking.mirror import Mirrored


class Counter:
    """An asyncio client."""

    def __init__(self) -> None:
        self.count = 0

    async def add(self, number: int, *, twice: bool = False) -> int:
        """Add a number."""
        if number < 0:
            raise ValueError("a negative number")
        self.count += number * (1 + twice)
        return self.count


class BlockingCounter:
    """The same, blocking."""

    def __init__(self) -> None:
        self.client = Counter()
        self.thread = LoopThread("counter")

    add = Mirrored(Counter.add)


def test_it_waits_for_the_result_or_the_error() -> None:
    counter = BlockingCounter()
    assert counter.add(2) == 2
    assert counter.add(2, twice=True) == 6
    with pytest.raises(ValueError, match="negative"):
        counter.add(-1)
    assert counter.add.__doc__ == "Add a number."
    counter.thread.close()
    with pytest.raises(RuntimeError, match="closed"):
        counter.add(1)
