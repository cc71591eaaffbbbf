"""How much may be under way at once: in all, and for each who asks."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from moldau.web.errors import WebError

_TOO_MANY = 429


class Seats:
    """Places for work that takes memory and time; who finds none is refused at once."""

    def __init__(self, what: str, *, total: int, each: int) -> None:
        self._what = what
        self._total = total
        self._each = each
        self._taken: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """How many are taken."""
        return self._taken.total()

    def check(self, who: str) -> None:
        """429 if there is no place for this one."""
        if self._taken[who] >= self._each:
            raise WebError(
                _TOO_MANY, f"you have {self._each} {self._what} at once: close or stop one first"
            )
        if self.taken >= self._total:
            raise WebError(
                _TOO_MANY,
                f"{self._total} {self._what} at once is all this console does: try again soon",
            )

    @contextmanager
    def taking(self, who: str) -> Iterator[None]:
        """Have a place while the block lasts."""
        self.check(who)
        self._taken[who] += 1
        try:
            yield
        finally:
            self._taken[who] -= 1
            if not self._taken[who]:
                del self._taken[who]
