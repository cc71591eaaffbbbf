"""Batches are limited fairly and divided without losing an offset."""

from hypothesis import given
from hypothesis import strategies as st

from moldau.model import TopicPartition
from moldau.spark.planning import Range, divided, limited, ranges, shared

A, B = TopicPartition("t", 0), TopicPartition("t", 1)
bounds = st.dictionaries(
    st.builds(TopicPartition, st.just("t"), st.integers(0, 5)),
    st.tuples(st.integers(0, 1000), st.integers(0, 1000)),
    max_size=6,
)


def test_a_limit_is_shared_by_what_there_is_to_read() -> None:
    assert limited({A: 0, B: 0}, {A: 900, B: 100}, 100) == {A: 90, B: 10}
    assert limited({A: 0, B: 0}, {A: 5, B: 5}, 100) == {A: 5, B: 5}
    assert limited({A: 0, B: 7}, {A: 1000, B: 7}, 10) == {A: 10, B: 7}


@given(bounds, st.integers(1, 500))
def test_a_limited_batch_gets_on_and_ends_in_time(
    found: dict[TopicPartition, tuple[int, int]], count: int
) -> None:
    start = {each: first for each, (first, _) in found.items()}
    end = {each: first + size for each, (first, size) in found.items()}
    reached = limited(start, end, count)
    for each, offset in reached.items():
        assert min(start[each] + 1, end[each]) <= offset <= end[each]
    read = sum(reached[each] - start[each] for each in end)
    assert read <= max(count, sum(size > 0 for _, size in found.values())) + len(found)


@given(bounds, st.none() | st.integers(1, 20))
def test_tasks_cover_every_offset_once(
    found: dict[TopicPartition, tuple[int, int]], partitions_min: int | None
) -> None:
    start = {each: first for each, (first, _) in found.items()}
    end = {each: first + size for each, (first, size) in found.items()}
    covered: dict[TopicPartition, int] = dict(start)
    for task in divided(ranges(start, end), partitions_min):
        assert task.start == covered[task.partition] < task.end
        covered[task.partition] = task.end
    assert covered == end


def test_many_tasks_are_made_where_they_are_asked_for() -> None:
    assert divided(ranges({A: 0, B: 10}, {A: 100, B: 10}), 4) == [
        Range(A, first, first + 25) for first in (0, 25, 50, 75)
    ]
    assert len(divided(ranges({A: 0, B: 0}, {A: 100, B: 100}), 1)) == 2


@given(bounds, st.integers(1, 20))
def test_tasks_that_share_partitions_read_every_range_once(
    found: dict[TopicPartition, tuple[int, int]], most: int
) -> None:
    start = {each: first for each, (first, _) in found.items()}
    end = {each: first + size for each, (first, size) in found.items()}
    whole = ranges(start, end)
    tasks = shared(whole, most)
    assert sorted(each for task in tasks for each in task) == sorted(whole)
    assert len(tasks) == min(most, len(whole))
    assert all(tasks)
    assert shared(whole, None) == [(each,) for each in whole]


def test_tasks_share_what_there_is_evenly() -> None:
    whole = [Range(A, 0, 60), Range(B, 0, 50), Range(A, 60, 70)]
    assert shared(whole, 2) == [(whole[0],), (whole[2], whole[1])]
