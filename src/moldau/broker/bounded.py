"""Messages that are read or written in turns, and given up where they come to too much."""

from collections.abc import Generator
from typing import Any

from moldau.net.answer import CloseConnection


def within(
    limit: int | None, work: Generator[int, None, Any], reason: str
) -> Generator[int, None, Any]:
    """Read or write a message, unless that comes to more than any client needs."""
    while True:
        try:
            progress = next(work)
        except StopIteration as stop:
            return stop.value
        if limit is not None and progress > limit:
            raise CloseConnection(reason)
        yield progress
