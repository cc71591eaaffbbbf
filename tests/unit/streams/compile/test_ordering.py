"""Rows come back in the order in which Kafka Streams would take them."""

from pyspark.sql import Row

from moldau.streams.compile.ordering import in_order


def row(offset: int, millis: int, *, topic: str = "a", steps: tuple[int, ...] = ()) -> Row:
    place = {"topic": topic, "partition": 0, "offset": offset, "steps": list(steps)}
    return Row(place=place, millis=millis)


def test_offsets_decide_within_a_partition_not_times() -> None:
    rows = [row(2, 5), row(1, 90), row(3, 1)]
    assert [each.place["offset"] for each in in_order(rows)] == [1, 2, 3]


def test_what_was_made_of_one_record_keeps_its_order() -> None:
    rows = [row(1, 5, steps=(1,)), row(1, 5, steps=(0, 7)), row(1, 5, steps=(0,))]
    assert [each.place["steps"] for each in in_order(rows)] == [[0], [0, 7], [1]]


def test_among_partitions_the_earlier_head_goes_first() -> None:
    rows = [row(0, 10), row(1, 2), row(0, 5, topic="b"), row(1, 11, topic="b")]
    found = [(each.place["topic"], each.millis) for each in in_order(rows)]
    assert found == [("b", 5), ("a", 10), ("a", 2), ("b", 11)]
