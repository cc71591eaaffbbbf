"""Changes of a table, with Spark's own tester of processors; no JVM runs."""

import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester
from pyspark.sql.types import DataType, LongType, StructType

from moldau.streams.compile.changes import Differences, check_mapped
from unit.streams.state_rows import row


@pytest.mark.parametrize("found", [LongType(), StructType().add("city", LongType())])
def test_a_mapper_that_gives_no_pair_is_explained(found: DataType) -> None:
    with pytest.raises(
        TypeError, match=r"a new key and a new value.*this gives .*lambda key, value"
    ):
        check_mapped(found)
    check_mapped(StructType().add("key", LongType()).add("value", found))


def signs(rows: list[Row]) -> list[tuple[object, int, list[int]]]:
    return [(each.mapped, each.sign, each.place["steps"]) for each in rows]


def test_a_change_takes_the_old_row_away_and_adds_the_new_one() -> None:
    tester = TwsTester(Differences(StructType([])))
    old, new = {"key": "Prague", "value": 1}, {"key": "Dresden", "value": 2}
    first = tester.test("ann", [row(1, None, 5, mapped=old)])
    assert signs(first) == [(old, 1, [1])]
    second = tester.test("ann", [row(2, None, 6, mapped=new), row(3, None, 7, mapped=None)])
    assert signs(second) == [(old, -1, [0]), (new, 1, [1]), (new, -1, [0])]
    assert [each.millis for each in second] == [6, 6, 7]
    assert tester.test("ann", [row(4, None, 8, mapped=None)]) == []
    assert tester.peekValueState("row", "ann") is None
