"""Puts small files of an Iceberg table together, for which pyiceberg has no operation."""

from collections.abc import Iterable, Iterator
from itertools import count

from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan, _dataframe_to_data_files
from pyiceberg.table import FileScanTask, Table, TableProperties

_FEW = 2


def compact_files(table: Table, size_bytes: int) -> int:
    """One commit, with as much in memory as a file may have; returns how many files are gone.

    Rows do not change, and neither does what the table says of how far it is. A commit that comes
    between makes this one fail.
    """
    tasks = [each for each in table.scan().plan_files() if not each.delete_files]
    small = [each for each in tasks if each.file.file_size_in_bytes * 2 < size_bytes]
    groups = [each for each in _grouped(small, size_bytes) if len(each) >= _FEW]
    if not groups:
        return 0
    # In memory alone: tried again, it would be put on top of what somebody else has changed.
    table.metadata.properties[TableProperties.COMMIT_NUM_RETRIES] = "0"
    number = count()  # of a file, in names that all begin alike
    with table.transaction() as transaction, transaction.update_snapshot().overwrite() as change:
        change.delete_by_predicate(AlwaysTrue())  # which manifests to look at for files that go
        for group in groups:
            scan = ArrowScan(table.metadata, table.io, table.schema(), AlwaysTrue())
            rows = scan.to_table(group)
            for written in _dataframe_to_data_files(
                table.metadata, rows, table.io, change.commit_uuid, number
            ):
                change.append_data_file(written)
            for each in group:
                change.delete_data_file(each.file)
    return sum(map(len, groups))


def _grouped(tasks: Iterable[FileScanTask], size_bytes: int) -> Iterator[list[FileScanTask]]:
    """Files that make one of about that size together, in their order."""
    group: list[FileScanTask] = []
    size = 0
    for each in tasks:
        if group and size + each.file.file_size_in_bytes > size_bytes:
            yield group
            group, size = [], 0
        group.append(each)
        size += each.file.file_size_in_bytes
    if group:
        yield group
