"""A consumer's records one after the other, in portions that count as polls."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from moldau.client.consumer.assignment import Assigned, Assignment
from moldau.records.fetched import kernel

if TYPE_CHECKING:
    from moldau.records.kernel import RecordIterator


class Iteration:
    """Feeds a compiled iterator, which is asked for every record, with readers of records.

    A portion ends with a reader's last record, and after `count_max` records at the latest, so
    that a user who is slow with each record is still seen to make progress.
    """

    def __init__(
        self,
        assignment: Assignment,
        count_max: int,
        *,
        prepare: Callable[[], None],
        wait: Callable[[], Awaitable[None]],
        note: Callable[[], None],
    ) -> None:
        self._assignment = assignment
        self._count_max = count_max
        self._prepare = prepare
        self._wait = wait
        self._note = note
        self._current: Assigned | None = None
        self.records: RecordIterator = kernel.RecordIterator()

    async def begin_portion(self) -> None:
        """Let the iterator have the next records; wait until there are some."""
        self._prepare()
        self._assignment.consume()
        while (assigned := self._assignment.next_in_turn()) is None:
            await self._wait()
        self._current = assigned
        self.records.enter(assigned.chunks[0].reader, self._count_max)
        self._note()

    def goes_on(self) -> bool:
        """Begin a portion where the last one ended, if there is more; any thread may ask."""
        reader = self.records.reader
        if reader is None or reader.is_exhausted or self._current is None:
            return False
        self._current.consumed = reader.position
        self.records.enter(reader, self._count_max)
        self._note()
        return True

    def stop(self) -> None:
        """End the portion, since other partitions may be wanted."""
        self.records.enter(None, 0)
