"""What is in a table already is not written to it."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest

from moldau.connect.connectors.lakes.sink import LakeSink, LakeTables
from moldau.connect.errors import CommitLost, ConfigError, ConnectError
from unit.connect.connectors.records import records


class Listed:
    """Tables in memory."""

    def __init__(self) -> None:
        self.ends = {"t-lake": {0: 3, 1: 9}}
        self.rows: dict[str, list[int]] = {}
        self.compacted: list[tuple[str, int]] = []

    def reached(self, table: str, partitions: Sequence[int]) -> Mapping[int, int]:
        return self.ends.get(table, {})

    def append(self, table: str, rows: pa.Table, ends: Mapping[int, int]) -> None:
        self.rows.setdefault(table, []).extend(rows["id"].to_pylist())
        self.ends.setdefault(table, {}).update(ends)

    def compact(self, table: str, size_bytes: int) -> int:
        self.compacted.append((table, size_bytes))
        if len(self.compacted) > 1:
            raise ConnectError("somebody else writes")
        return 2

    def close(self) -> None:
        self.rows["closed"] = []


class InMemory(LakeSink):
    """A sink of such tables."""

    tables = Listed()

    def open_tables(self) -> LakeTables:
        return self.tables


def test_each_topic_has_a_table_and_each_record_is_in_it_once() -> None:
    sink = InMemory({"table.name.format": "${topic}-lake"})
    for batch in (records(0, 5), records(7, 2, partition=1), records(0, 1, topic="u")):
        sink.write(batch, 0)
    assert sink.settle(ends=True)
    sink.close()
    assert sink.tables.rows == {"t-lake": [3, 4], "u-lake": [0], "closed": []}
    assert sink.tables.ends == {"t-lake": {0: 5, 1: 9}, "u-lake": {0: 1}}


def test_who_was_overtaken_looks_again_and_writes_the_rest() -> None:
    class Contended(Listed):
        lost = 0

        def append(self, table: str, rows: pa.Table, ends: Mapping[int, int]) -> None:
            self.lost += 1
            if self.lost < 3 or table == "u":
                self.ends.setdefault(table, {})[0] = self.lost
                raise CommitLost("somebody was faster")
            super().append(table, rows, ends)

    class Sharing(LakeSink):
        tables = Contended()

        def open_tables(self) -> LakeTables:
            return self.tables

    sink = Sharing({})
    sink.write(records(0, 4), 0)
    assert sink.settle(ends=True)
    assert sink.tables.rows == {"t": [2, 3]}
    sink.write(records(90, 1, topic="u"), 0)
    with pytest.raises(CommitLost):
        sink.settle(ends=True)


def test_a_package_that_is_missing_is_named() -> None:
    class Missing(LakeSink):
        def open_tables(self) -> LakeTables:
            raise ImportError("No module named 'deltalake'")

    sink = Missing({})
    sink.write(records(0, 1), 0)
    with pytest.raises(ConfigError, match=r"deltalake.*pip install 'moldau\[lake\]'"):
        sink.settle(ends=True)
    sink.close()


def test_tables_are_compacted_now_and_then_and_that_may_fail(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Own(LakeSink):
        tables = Listed()

        def open_tables(self) -> LakeTables:
            return self.tables

    caplog.set_level("INFO")
    sink = Own({"rows.per.file": "1", "compact.every.commits": "2", "compact.file.size.mb": "1"})
    for offset in range(5):
        sink.write(records(offset, 1, topic="c"), 0)
    assert sink.tables.compacted == [("c", 2**20)] * 2
    assert sink.tables.rows == {"c": [0, 1, 2, 3, 4]}
    assert "table c: 2 small files were put together" in caplog.text
    assert "table c is not compacted now: somebody else writes" in caplog.text
