"""Tables cut into ranges of blocks, which can be read in any order and by anyone.

A row that a snapshot shows stays in its block as long as nobody rewrites the table, and a lock
keeps everybody from that. So ranges of blocks have each row once, whatever its key, and also
without one; they cost the server no more than one read of the table (PostgreSQL 14 and later).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.postgresql.catalog import quoted_table
from moldau.connect.connectors.postgresql.server import Connection, DatabaseServer

PART_BYTES = 2**19
"""So large is a part about: its rows are in memory, and one transaction in topics."""
RANGES_SINCE = 140_000
"""The version of the server that finds blocks without reading those before them."""
# Parts of a partitioned table are blocks of each of its partitions.
_SIZES = """
SELECT coalesce(max(pg_relation_size(leaf.oid)) / current_setting('block_size')::bigint, 0),
  coalesce(sum(pg_table_size(leaf.oid)), 0)::bigint,
  coalesce(bool_and(leaf.relkind = 'r' AND method.amname = 'heap'), true)
FROM (
  SELECT to_regclass(%s)::oid AS oid WHERE NOT %s
  UNION SELECT relid FROM pg_partition_tree(to_regclass(%s)) WHERE isleaf AND %s
) listed
JOIN pg_class leaf ON leaf.oid = listed.oid LEFT JOIN pg_am method ON method.oid = leaf.relam
"""
_PARTITIONED = "SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass(%s)"


@dataclass(frozen=True, slots=True)
class TablePart:
    """Some blocks of a table."""

    table: TableName
    start: int
    end: int
    """The first block that is not part of it."""
    begins: bool = False
    """Whether no row of the table is before it."""
    ends: bool = False
    """Whether no row of the table is behind it."""

    @property
    def condition(self) -> str:
        """Which rows of the table it has, in SQL."""
        return f"ctid >= '({self.start},0)' AND ctid < '({self.end},0)'"


@dataclass(frozen=True, slots=True)
class TableCut:
    """A table as parts of so many blocks, from the first to the last one that has rows."""

    table: TableName
    blocks: int
    first: int
    end: int

    def part(self, number: int) -> TablePart:
        """By its number from 0 on."""
        at = self.first + number
        return TablePart(
            self.table,
            at * self.blocks,
            (at + 1) * self.blocks,
            begins=at == self.first,
            ends=at == self.end - 1,
        )

    def __len__(self) -> int:
        """How many parts there are."""
        return self.end - self.first


@dataclass(frozen=True, slots=True)
class TableParts:
    """All parts of some tables, by numbers."""

    cuts: Sequence[TableCut]

    def part(self, number: int) -> TablePart:
        """The parts of the first table come first."""
        for each in self.cuts:
            if number < len(each):
                return each.part(number)
            number -= len(each)
        raise IndexError(number)

    def __len__(self) -> int:
        """How many there are."""
        return sum(map(len, self.cuts))


def is_partitioned(server: DatabaseServer, connection: Connection, table: TableName) -> bool:
    """Whether its rows are those of other tables."""
    rows = server.rows(connection, _PARTITIONED, [quoted_table(table)])
    return bool(rows and rows[0][0])


def cut_table(server: DatabaseServer, connection: Connection, table: TableName) -> TableCut | None:
    """A table that nobody rewrites meanwhile; None if there are no such ranges of it."""
    is_root, place = is_partitioned(server, connection, table), quoted_table(table)
    sizes = server.rows(connection, _SIZES, [place, is_root, place, is_root])
    blocks, size, is_heap = sizes[0]
    if not is_heap or connection.info.server_version < RANGES_SINCE:
        return None
    in_part = max(1, int(str(blocks)) * PART_BYTES // max(int(str(size)), 1))
    count = -(-int(str(blocks)) // in_part)
    only = "" if is_root else "ONLY "

    def has_rows(start: int, end: int) -> bool:
        wanted = TablePart(table, start * in_part, end * in_part).condition
        statement = f"SELECT EXISTS (SELECT FROM {only}{place} WHERE {wanted})"  # noqa: S608
        return bool(server.rows(connection, statement)[0][0])

    first = first_with(count, has_rows)
    if first is None:
        return TableCut(table, in_part, 0, 0)
    behind = first_with(count, lambda start, end: has_rows(count - end, count - start))
    assert behind is not None, "it has rows"
    return TableCut(table, in_part, first, count - behind)


def first_with(count: int, has_rows: Callable[[int, int], bool]) -> int | None:
    """The first of so many places that has rows, by asking for ranges of them.

    Ranges grow, so that what is read in vain is no more than what has to be read.
    """
    start, width = 0, 1
    while start < count and not has_rows(start, min(start + width, count)):
        start, width = start + width, width * 2
    if start >= count:
        return None
    end = min(start + width, count)
    while end - start > 1:
        middle = (start + end) // 2
        start, end = (start, middle) if has_rows(start, middle) else (middle, end)
    return start
