"""Answers that wait until what they could have seen is durable, in the order of their requests."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from moldau.coordination.nodes import TreeTransaction
from moldau.coordination.writer import JournalWriter


@dataclass(frozen=True, slots=True)
class _Waiting:
    after: int
    """How many transactions must be durable before it may leave."""
    leave: Callable[[], None]
    fail: Callable[[], None]


class DurableLine:
    """The line before a journal; one that stands in it leaves after all before it have left."""

    def __init__(self, writer: JournalWriter) -> None:
        self._writer = writer
        self._line: deque[_Waiting] = deque()
        self._submitted = 0
        self._durable = 0

    def submit(self, transaction: TreeTransaction) -> None:
        """Have a transaction made durable; what comes into the line from now on waits for it."""
        if not transaction.is_empty:
            self._submitted += 1
            self._writer.submit(transaction)

    def stand(self, leave: Callable[[], None], fail: Callable[[], None]) -> None:
        """Call `leave` once everything submitted so far is durable, or `fail` if it never is."""
        self._line.append(_Waiting(self._submitted, leave, fail))
        self._release()

    def committed(self, count: int) -> None:
        """So many more transactions are durable."""
        self._durable += count
        self._release()

    def give_up(self) -> None:
        """None will be any more."""
        while self._line:
            self._line.popleft().fail()

    def _release(self) -> None:
        while self._line and self._line[0].after <= self._durable:
            self._line.popleft().leave()
