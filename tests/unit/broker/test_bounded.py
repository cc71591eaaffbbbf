"""Messages in turns: finished within their limit, given up beyond it."""

from collections.abc import Generator

import pytest

from moldau.broker.bounded import within
from moldau.net.answer import CloseConnection


def work(count: int) -> Generator[int, None, str]:
    yield from range(1, count + 1)
    return "done"


@pytest.mark.parametrize("limit", [5, None])
def test_what_stays_within_the_limit_comes_to_its_end(limit: int | None) -> None:
    bounded = within(limit, work(5), "too long")
    assert list(bounded) == [1, 2, 3, 4, 5]


def test_what_goes_beyond_closes_the_connection() -> None:
    bounded = within(4, work(5), "too long")
    with pytest.raises(CloseConnection, match="too long"):
        list(bounded)
