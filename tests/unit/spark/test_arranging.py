"""Rows are arranged so that each partition has one writer."""

from itertools import chain

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from moldau.records.murmur import murmur2
from moldau.spark.arranging import owned_partitions, partitions_of_keys


@given(some.integers(1, 50), some.integers(1, 50), some.integers(0, 10**6))
def test_every_partition_has_one_owner(partition_count: int, tasks: int, shift: int) -> None:
    task_count = min(tasks, partition_count)
    owned = owned_partitions(partition_count, task_count, shift)
    assert len(owned) == task_count
    assert all(owned)
    assert sorted(chain(*owned)) == list(range(partition_count))


def test_small_batches_take_turns() -> None:
    firsts = [owned_partitions(3, 3, batch_id)[0] for batch_id in range(4)]
    assert firsts == [(0,), (1,), (2,), (0,)]


@given(some.lists(some.tuples(some.sampled_from("xy"), some.none() | some.binary(max_size=9))))
def test_keys_are_hashed_as_by_javas_clients(rows: list[tuple[str, bytes | None]]) -> None:
    topics = pa.array([topic for topic, _ in rows], pa.string())
    keys = pa.array([key for _, key in rows], pa.binary())
    counts = {"x": 3, "y": 7}
    found = partitions_of_keys(topics, keys, counts.__getitem__, 8)
    assert found.type == pa.int32()
    assert found.to_pylist() == [
        (8 if key is None else murmur2(key) & 0x7FFFFFFF) % counts[topic] for topic, key in rows
    ]


def test_a_row_without_topic_is_refused() -> None:
    with pytest.raises(ValueError, match="a row has no topic"):
        partitions_of_keys(pa.array([None], pa.string()), pa.array([b"k"]), len, 0)
