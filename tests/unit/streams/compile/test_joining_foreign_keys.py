"""The three steps of a join by foreign key, on the processors themselves."""

from itertools import count

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql.streaming.tws_tester import TwsTester
from pyspark.sql.types import StringType

from moldau.streams import StreamsBuilder, json
from moldau.streams.compile.joining_foreign_keys import Meeting, Newest, Subscribing
from moldau.streams.nodes.joins import Kind
from moldau.streams.testing.driver import TestDriver

OFFSETS = count()


def change(value: str | None) -> Row:
    """A change on the left whose value is its foreign key."""
    return Row(left=value, foreign_key=value, millis=0, headers=None, place=place())


def place() -> dict[str, object]:
    return {"topic": "t", "partition": 0, "offset": next(OFFSETS), "steps": []}


def right(value: str | None) -> Row:
    return Row(right=value, is_left=False, millis=0, headers=None, place=place())


def subscription(primary: str, *, subscribes: bool = True, tells: bool = False) -> Row:
    return Row(
        primary_key=primary,
        left="x" if subscribes else None,
        version=1,
        subscribes=subscribes,
        says_deletion=tells,
        is_left=True,
        millis=0,
        headers=None,
        place=place(),
    )


def meeting(kind: Kind) -> TwsTester:
    return TwsTester(Meeting(StringType(), StringType(), StringType(), kind))


def told(results: list[Row]) -> list[tuple[str, str | None, bool]]:
    return [(each.primary_key, each.right, each.is_deleted) for each in results]


def test_a_row_that_names_another_key_leaves_the_old_one_first() -> None:
    tester = TwsTester(Subscribing(StringType()))
    tester.test(("a",), [change("x")])
    results = tester.test(("a",), [change("y"), change("y"), change(None)])
    assert [(each.foreign_key, each.subscribes, each.version) for each in results] == [
        ("x", False, 2),
        ("y", True, 2),
        ("y", True, 3),
        ("y", False, 4),
    ]
    # Only a deletion is told by the key that is left: else the new one tells what holds now.
    assert [each.says_deletion for each in results] == [False, True, True, True]


def test_a_deleted_row_is_forgotten() -> None:
    tester = TwsTester(Subscribing(StringType()))
    tester.test(("a",), [change("x"), change(None)])
    assert tester.test(("a",), [change(None)]) == []


def test_those_who_name_a_row_hear_of_its_changes() -> None:
    tester = meeting("inner")
    assert told(tester.test(("x",), [subscription("a"), subscription("b")])) == []
    assert told(tester.test(("x",), [right("r")])) == [("a", "r", False), ("b", "r", False)]
    assert told(tester.test(("x",), [subscription("a", subscribes=False, tells=True)])) == [
        ("a", "r", True)
    ]
    assert told(tester.test(("x",), [right(None)])) == [("b", None, True)]


def test_a_left_join_tells_rows_that_name_nothing() -> None:
    tester = meeting("left")
    assert told(tester.test(("x",), [subscription("a")])) == [("a", None, False)]
    assert told(tester.test(("x",), [right("r"), right(None)])) == [
        ("a", "r", False),
        ("a", None, False),
    ]


def test_leaving_without_a_word_tells_nothing() -> None:
    tester = meeting("inner")
    tester.test(("x",), [right("r"), subscription("a")])
    assert told(tester.test(("x",), [subscription("a", subscribes=False)])) == []


def test_the_newest_result_holds() -> None:
    rows = [
        Row(version=version, sequence=sequence) for version, sequence in [(1, 9), (2, 1), (2, 0)]
    ]
    tester = TwsTester(Newest())
    assert tester.test(("a",), rows) == [Row(version=2, sequence=1)]
    assert tester.test(("a",), []) == []


@pytest.mark.needs("java")
def test_orders_follow_the_customers_that_they_name(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    orders = builder.table("orders", value=json("customer string, item string"))
    customers = builder.table("customers", value=json("name string"))
    joined = orders.join(
        customers, "concat(right.name, ':', left.item)", foreign_key="value.customer"
    )
    joined.to_stream().to("output")
    with TestDriver(builder.build(), spark=spark) as driver:
        driver.pipe("customers", key="c1", value={"name": "Anna"}, timestamp_ms=0)
        driver.pipe("customers", key="c2", value={"name": "Bert"}, timestamp_ms=0)
        for key, item in (("o1", "boat"), ("o2", "oar")):
            value = {"customer": "c1", "item": item}
            driver.pipe("orders", key=key, value=value, timestamp_ms=1)
        driver.run()
        assert driver.last_values("output") == {"o1": "Anna:boat", "o2": "Anna:oar"}
        driver.pipe("customers", key="c1", value={"name": "Eva"}, timestamp_ms=2)
        driver.pipe("orders", key="o2", value={"customer": "c2", "item": "oar"}, timestamp_ms=3)
        driver.run()
        assert driver.last_values("output") == {"o1": "Eva:boat", "o2": "Bert:oar"}
        driver.pipe("customers", key="c1", value=None, timestamp_ms=4)
        driver.run()
        assert driver.last_values("output") == {"o2": "Bert:oar"}
