"""Rows of several tables at a time, each table read as a whole by one of a few threads.

Each thread has a connection of its own, that sees what the others see. Rows of a table stay in
their order; tables mix.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import islice
from queue import Empty, Queue, SimpleQueue

from moldau.connect.connectors.capture.snapshot_rows import SnapshotRow
from moldau.connect.connectors.capture.tables import TableName

_ROWS_AT_ONCE = 64
_JOIN_S = 0.01


ReadTable = Callable[[TableName], Iterator[SnapshotRow]]
Connect = Callable[[], AbstractContextManager[ReadTable]]
"""Gives a thread what it reads tables with, on a connection of its own."""


class ParallelRows:
    """Begins to read at once; what is held in memory has a bound."""

    def __init__(self, tables: Sequence[TableName], threads: int, connect: Connect) -> None:
        self._connect = connect
        self._tables: SimpleQueue[TableName] = SimpleQueue()
        for each in tables:
            self._tables.put(each)
        # Rows, what went wrong in a thread, or that one has ended.
        self._given: Queue[list[SnapshotRow] | Exception | None] = Queue(threads)
        self._is_closed = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, name="table-reader", daemon=True)
            for _ in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def rows(self) -> Iterator[SnapshotRow]:
        """As they come; what went wrong in a thread is raised."""
        left = len(self._threads)
        while left:
            found = self._given.get()
            if found is None:
                left -= 1
            elif isinstance(found, Exception):
                raise found
            else:
                yield from found

    def close(self) -> None:
        """Have the threads end and hang up, wherever they are."""
        self._is_closed.set()
        for thread in self._threads:
            while thread.is_alive():
                with suppress(Empty):
                    self._given.get_nowait()  # makes room for what a thread gives
                thread.join(_JOIN_S)

    def _work(self) -> None:
        try:
            with self._connect() as read, suppress(Empty):
                while not self._is_closed.is_set():
                    self._give(read(self._tables.get_nowait()))
        except Exception as error:  # noqa: BLE001 - raised where the rows are wanted
            self._given.put(error)
        else:
            self._given.put(None)

    def _give(self, rows: Iterator[SnapshotRow]) -> None:
        while not self._is_closed.is_set() and (some := list(islice(rows, _ROWS_AT_ONCE))):
            self._given.put(some)
