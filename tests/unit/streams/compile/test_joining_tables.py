"""Joins with tables, on the processors themselves: Spark's tester keeps their state."""

from itertools import count

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql.streaming.tws_tester import TwsTester
from pyspark.sql.types import StringType

from moldau.streams import LONG, StreamsBuilder, json
from moldau.streams.compile.joining_tables import StreamTableJoining, TableJoining, is_result
from moldau.streams.nodes.joins import Kind
from moldau.streams.testing.driver import TestDriver

OFFSETS = count()


def left(value: str | None, millis: int = 0) -> Row:
    return row(value, None, millis, is_left=True)


def right(value: str | None, millis: int = 0) -> Row:
    return row(None, value, millis, is_left=False)


def row(left: str | None, right: str | None, millis: int, *, is_left: bool) -> Row:
    place = {"topic": "t", "partition": 0, "offset": next(OFFSETS), "steps": []}
    fields = {"left": left, "right": right, "is_left": is_left, "millis": millis}
    return Row(**fields, headers=None, place=place)


def pairs(results: list[Row]) -> list[tuple[str | None, str | None]]:
    return [(each.left, each.right) for each in results]


def test_a_record_joins_the_row_that_the_table_had_before_it() -> None:
    tester = TwsTester(StreamTableJoining(StringType(), "inner"))
    first = tester.test(("k",), [left("l1"), right("r1"), left("l2"), right("r2")])
    assert pairs(first) == [("l2", "r1")]
    assert pairs(tester.test(("k",), [left("l3")])) == [("l3", "r2")]
    assert pairs(tester.test(("other",), [left("l4")])) == []
    assert pairs(tester.test(("k",), [right(None), left("l5")])) == []


def test_a_left_join_gives_every_record_that_has_a_value() -> None:
    tester = TwsTester(StreamTableJoining(StringType(), "left"))
    results = tester.test(("k",), [left("l1"), left(None), right("r1"), left("l2", 7)])
    assert pairs(results) == [("l1", None), ("l2", "r1")]
    assert (results[1].left, results[1].millis) == ("l2", 7)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("inner", [("l1", "r1", False), ("l2", "r1", False), (None, "r1", True)]),
        (
            "left",
            [
                ("l1", None, False),
                ("l1", "r1", False),
                ("l2", "r1", False),
                (None, "r1", True),
            ],
        ),
        (
            "outer",
            [
                ("l1", None, False),
                ("l1", "r1", False),
                ("l2", "r1", False),
                (None, "r1", False),
                (None, None, True),
            ],
        ),
    ],
)
def test_a_result_is_deleted_when_a_side_is_missed(
    kind: Kind, expected: list[tuple[str | None, str | None, bool]]
) -> None:
    tester = TwsTester(TableJoining(StringType(), StringType(), kind))
    changes = [left("l1"), right("r1"), left("l2"), left(None), right(None)]
    results = [result for change in changes for result in tester.test(("k",), [change])]
    assert [(each.left, each.right, each.is_deleted) for each in results] == expected


def test_a_result_has_the_time_of_its_newer_side() -> None:
    tester = TwsTester(TableJoining(StringType(), StringType(), "outer"))
    changes = [left("l1", 10), right("r1", 5), left("l2", 7), right(None, 6), left(None, 8)]
    results = [result for change in changes for result in tester.test(("k",), [change])]
    assert [each.millis for each in results] == [10, 10, 7, 7, 8]


def test_a_row_that_was_not_there_cannot_be_deleted() -> None:
    tester = TwsTester(TableJoining(StringType(), StringType(), "left"))
    assert pairs(tester.test(("k",), [left("l1"), right(None)])) == [("l1", None)]


def test_changes_of_one_micro_batch_count_one_after_the_other() -> None:
    tester = TwsTester(TableJoining(StringType(), StringType(), "inner"))
    results = tester.test(("k",), [right("r1"), left("l1"), left(None), right("r2")])
    assert [each.is_deleted for each in results] == [False, True]


def test_a_result_needs_the_sides_of_its_kind() -> None:
    sides = [("l", "r"), ("l", None), (None, "r"), (None, None)]
    assert [is_result("inner", *each) for each in sides] == [True, False, False, False]
    assert [is_result("left", *each) for each in sides] == [True, True, False, False]
    assert [is_result("outer", *each) for each in sides] == [True, True, True, False]


@pytest.mark.needs("java")
def test_a_stream_is_enriched_by_rows_that_are_structs(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    users = builder.table("users", value=json("name string, tags array<string>"))
    clicks = builder.stream("clicks")
    clicks.join(users, "concat(left, ' by ', right.name, right.tags[0])").to("output")
    with TestDriver(builder.build(), spark=spark) as driver:
        driver.pipe("users", key="u", value={"name": "Anna", "tags": ["!"]}, timestamp_ms=0)
        driver.pipe("clicks", key="u", value="home", timestamp_ms=1)
        driver.run()
        driver.pipe("clicks", key="u", value="shop", timestamp_ms=2)
        driver.run()
        found = driver.read("output")
    assert [each.value for each in found] == ["home by Anna!", "shop by Anna!"]


@pytest.mark.needs("java")
def test_keys_of_different_types_are_told_when_compiling(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    joined = builder.table("a").join(builder.table("b", key=LONG), "left")
    joined.to_stream().to("output")
    with pytest.raises(TypeError, match="string and bigint"):
        TestDriver(builder.build(), spark=spark)
