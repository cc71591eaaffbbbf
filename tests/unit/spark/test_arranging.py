"""Rows are arranged so that each partition has one writer."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as some

from moldau.spark.arranging import owned_partitions


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
