"""Rows come out of bundles as they went in, each at the partition of its key."""

from collections.abc import Iterable, Sequence

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as some

from moldau.client.producer.encoding import seal
from moldau.model import TopicPartition
from moldau.records.batch import read_records
from moldau.records.building import BatchForm, BuiltRecords
from moldau.records.murmur import murmur2
from moldau.spark.bundles import Division, bundled, unbundled
from moldau.spark.sink_columns import SinkColumns

COUNTS = {"x": 3, "y": 7}
Row = tuple[str, bytes | None, int | None]
keys = some.none() | some.binary(max_size=9)
rows = some.lists(some.tuples(some.sampled_from("xy"), keys, some.none() | some.integers(0, 2)))


def batch_of(found: Sequence[Row], first: int) -> pa.RecordBatch:
    """Rows whose values say where they were."""
    return pa.record_batch(
        {
            "key": pa.array([key for _, key, _ in found], pa.binary()),
            "value": pa.array([b"%d" % (first + n) for n in range(len(found))], pa.binary()),
            "topic": pa.array([topic for topic, _, _ in found], pa.string()),
            "partition": pa.array([partition for _, _, partition in found], pa.int32()),
        }
    )


def division(*names: str, topic: str | None = None, batch_size: int = 1 << 14) -> Division:
    return Division(SinkColumns(names, topic), 2, COUNTS.__getitem__, batch_size)


def delivered(found: Iterable[pa.RecordBatch]) -> dict[TopicPartition, list[int]]:
    """The values that came to each partition."""
    taken: dict[TopicPartition, list[int]] = {}
    for target, built in unbundled(iter(found)):
        values = values_in(built)
        assert len(values) == built.count
        taken.setdefault(target, []).extend(values)
    return taken


def values_in(built: BuiltRecords) -> list[int]:
    """The values of a batch, once a producer has written its header."""
    sealed = seal(built, BatchForm(1 << 14))
    return [int(each.value or b"") for each in read_records(sealed, limit_bytes=1 << 20)]


@given(some.lists(rows, max_size=3))
def test_rows_go_by_partition_or_key_and_keep_their_order(batches: list[list[Row]]) -> None:
    taken = delivered(
        bundled(
            (batch_of(each, 100 * number) for number, each in enumerate(batches)),
            division("key", "value", "topic", "partition"),
        )
    )
    given_rows = {
        100 * number + place: row
        for number, each in enumerate(batches)
        for place, row in enumerate(each)
    }
    assert sorted(each for values in taken.values() for each in values) == sorted(given_rows)
    for target, values in taken.items():
        for is_said in (True, False):
            alike = [each for each in values if (given_rows[each][2] is not None) == is_said]
            assert alike == sorted(alike)
        for each in values:
            topic, key, partition = given_rows[each]
            assert topic == target.topic
            if partition is not None:
                assert partition == target.partition
            elif key is not None:
                assert target.partition == (murmur2(key) & 0x7FFFFFFF) % COUNTS[topic]


def test_batches_are_as_large_as_those_of_a_producer() -> None:
    rows_of_one = batch_of([("x", None, 0)] * 100, 0)
    divided = division("key", "value", "topic", "partition", batch_size=300)
    found = [*bundled(iter([rows_of_one]), divided)]
    assert len(found) > 2
    assert delivered(found) == {TopicPartition("x", 0): [*range(100)]}


def test_rows_without_columns_for_a_place_stay_together() -> None:
    rows = pa.record_batch({"value": pa.array([b"1", b"2"]), "topic": ["y", "y"]})
    (values,) = delivered(bundled(iter([rows]), division("value", "topic"))).values()
    assert values == [1, 2]


def test_partitions_of_a_topic_are_spread_over_the_tasks() -> None:
    divided = division("value", topic="x")
    tasks = [divided.task_of(TopicPartition("x", number)) for number in range(6)]
    assert tasks.count(0) == tasks.count(1) == 3
    assert tasks == [divided.task_of(TopicPartition("x", number)) for number in range(6)]
