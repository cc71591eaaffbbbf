"""Threads share tables out; what they read comes together in one place."""

import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import pytest

from moldau.connect.connectors.capture.snapshot_rows import SnapshotRow, rows_of
from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.postgresql.parallel_rows import ParallelRows, ReadTable
from unit.connect.connectors.postgresql.tables import table


class Connections:
    """Counts those that are open; each reads tables of so many rows as their names say."""

    def __init__(self) -> None:
        self.opened = self.open = 0
        self._lock = threading.Lock()

    def connect(self) -> AbstractContextManager[ReadTable]:
        return self._connected()

    @contextmanager
    def _connected(self) -> Iterator[ReadTable]:
        with self._lock:
            self.opened += 1
            self.open += 1
        try:
            yield self._read
        finally:
            with self._lock:
                self.open -= 1

    def _read(self, name: TableName) -> Iterator[SnapshotRow]:
        count = int(name.name)
        yield from rows_of(table(name.name), ([str(at)] for at in range(abs(count))))
        if count < 0:
            raise ValueError(f"{name.name} cannot be read")


def tables(*counts: int) -> Sequence[TableName]:
    return [TableName("public", str(count)) for count in counts]


def test_each_row_comes_once_in_the_order_of_its_table() -> None:
    connections = Connections()
    counts = (0, 1, 64, 65, 500, 1000)
    parallel = ParallelRows(tables(*counts), 3, connections.connect)
    found = defaultdict(list)
    for row in parallel.rows():
        found[row.table.name.name].append(row.cells)
    assert found == {str(count): [[str(at)] for at in range(count)] for count in counts if count}
    parallel.close()
    assert (connections.opened, connections.open) == (3, 0)


def test_rows_wait_until_they_are_wanted_and_threads_end_when_they_are_not() -> None:
    connections = Connections()
    parallel = ParallelRows(tables(10**9, 10**9 + 1, 10**9 + 2), 2, connections.connect)
    assert next(parallel.rows()).is_first_of
    parallel.close()
    parallel.close()
    assert connections.open == 0


def test_what_goes_wrong_in_a_thread_is_raised() -> None:
    connections = Connections()
    parallel = ParallelRows(tables(5, -70, 6), 2, connections.connect)
    with pytest.raises(ValueError, match="-70 cannot be read"):
        list(parallel.rows())
    parallel.close()
    assert connections.open == 0


def test_a_connection_that_cannot_be_made_is_told() -> None:
    def connect() -> AbstractContextManager[ReadTable]:
        raise OSError("too many clients")

    parallel = ParallelRows(tables(5, 6), 2, connect)
    with pytest.raises(OSError, match="too many clients"):
        list(parallel.rows())
    parallel.close()
