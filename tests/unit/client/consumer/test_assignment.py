"""Positions, and records that were fetched ahead."""

from itertools import groupby

import pytest

from moldau.client.consumer.assignment import CHUNKS_MAX, Assigned, Assignment, Chunk
from moldau.errors import CorruptMessage
from moldau.model import TopicPartition
from moldau.records.batch import write_batch
from moldau.records.fetched import Selection
from moldau.records.record import Record
from moldau.records.rows import read_rows

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def chunk(*offsets: int, next_offset: int | None = None, partition: TopicPartition = T0) -> Chunk:
    data = memoryview(b"")
    if offsets:
        data = memoryview(write_batch([Record(each, 0, None, b"v") for each in offsets]))
    selection = Selection(offsets[0] if offsets else 0)
    end_offset = offsets[-1] + 1 if next_offset is None else next_offset
    return Chunk(read_rows(data, selection, partition), end_offset, data, selection)


@pytest.fixture
def assignment() -> Assignment:
    made = Assignment()
    made.replace([T0, T1])
    return made


@pytest.fixture
def first(assignment: Assignment) -> Assigned:
    """The first partition, read from its beginning."""
    assignment[T0].seek(0)
    return assignment[T0]


def taken(assignment: Assignment, count_max: int = 100) -> list[tuple[int, list[int]]]:
    records = assignment.take(count_max)
    return [
        (partition, [record.offset for record in group])
        for partition, group in groupby(records, lambda record: record.partition)
    ]


def test_new_partitions_have_no_position(assignment: Assignment) -> None:
    assert [each.partition for each in assignment.without_position()] == [T0, T1]
    assert assignment.fetchable() == []
    assert assignment.consumed_offsets() == {}


def test_records_are_handed_out_in_order_and_move_the_position(
    assignment: Assignment, first: Assigned
) -> None:
    first.add(chunk(0, 1))
    first.add(chunk(2, 3))
    assert taken(assignment, 3) == [(0, [0, 1, 2])]
    assert first.position == 3
    assert taken(assignment) == [(0, [3])]
    assert first.position == first.fetch_offset == 4
    assert taken(assignment) == []


def test_offsets_without_a_record_are_passed(assignment: Assignment, first: Assigned) -> None:
    first.add(chunk(0, 5, next_offset=9))
    assert taken(assignment) == [(0, [0, 5])]
    assert first.current() is None
    assert first.position == 9
    first.add(chunk(next_offset=20))
    assert taken(assignment) == []
    assert first.position == 20


def test_partitions_take_turns(assignment: Assignment) -> None:
    for partition in (T0, T1):
        assignment[partition].seek(0)
        assignment[partition].add(chunk(0, 1, 2, partition=partition))
    assert [taken(assignment, 2) for _ in range(3)] == [
        [(0, [0, 1])],
        [(1, [0, 1])],
        [(0, [2]), (1, [2])],
    ]


def test_only_so_much_is_fetched_ahead(assignment: Assignment, first: Assigned) -> None:
    for number in range(CHUNKS_MAX):
        assert assignment.fetchable() == [first]
        first.add(chunk(number))
    assert assignment.fetchable() == []
    assert assignment.buffered_bytes == sum(each.size_bytes for each in first.chunks)
    assert assignment.buffered_bytes > CHUNKS_MAX * 61


def test_a_paused_partition_is_left_as_it_is(assignment: Assignment, first: Assigned) -> None:
    first.add(chunk(0))
    first.is_paused = True
    assert taken(assignment) == []
    assert assignment.fetchable() == []
    first.is_paused = False
    assert taken(assignment) == [(0, [0])]


def test_a_seek_drops_what_was_fetched_and_what_is_on_its_way(
    assignment: Assignment, first: Assigned
) -> None:
    first.add(chunk(0, 1))
    version = first.version
    first.seek(7)
    assert taken(assignment) == []
    assert first.fetch_offset == 7
    assert assignment.get(T0, version) is None
    assert assignment.get(T0, first.version) is first


def test_a_position_that_the_broker_does_not_have_is_lost(
    assignment: Assignment, first: Assigned
) -> None:
    first.add(chunk(0))
    first.lose_position()
    assert first in assignment.without_position()
    assert first.wants_reset
    first.seek(3)
    assert not first.wants_reset


def test_what_is_committed_is_what_the_user_is_done_with(
    assignment: Assignment, first: Assigned
) -> None:
    first.add(chunk(0, 1, 2))
    taken(assignment, 2)
    assert assignment.consumed_offsets() == {T0: 0}
    assignment.consume()
    assert assignment.consumed_offsets() == {T0: 2}


def test_a_partition_that_stays_assigned_goes_on_where_it_is(
    assignment: Assignment, first: Assigned
) -> None:
    assignment.replace([T0])
    assert assignment[T0] is first
    assert T1 not in assignment
    assert assignment.partitions == [T0]


def test_a_reader_moves_the_position_as_it_is_read(assignment: Assignment, first: Assigned) -> None:
    first.add(chunk(0, 1, 2))
    assert assignment.next_in_turn() is first
    reader = first.chunks[0].reader
    reader.take(2)
    assert first.position == 2
    assert taken(assignment) == [(0, [2])]
    assert assignment.next_in_turn() is None


@pytest.mark.parametrize("way", ["seek", "lose_position", "leave"])
def test_readers_of_what_was_dropped_read_no_more(
    assignment: Assignment, first: Assigned, way: str
) -> None:
    first.add(chunk(0, 1, 2))
    reader = first.chunks[0].reader
    reader.take(1)
    if way == "seek":
        first.seek(7)
    elif way == "lose_position":
        first.lose_position()
    else:
        assignment.replace([T1])
        assert first.position == 1
    assert reader.take(1) == []


def test_whole_chunks_are_handed_out_from_where_they_were_read_to(
    assignment: Assignment, first: Assigned
) -> None:
    first.add(chunk(0, 1, 2))
    first.add(chunk(3, 4, next_offset=9))
    taken(assignment, 2)
    chunks = [(each.next_offset, start) for _, each, start in assignment.take_chunks()]
    assert chunks == [(3, 2), (9, 3)]
    assert first.position == 9


def test_what_fails_does_not_cost_the_records_before_it(
    assignment: Assignment, first: Assigned
) -> None:
    first.add(chunk(0, 1))
    assignment[T1].seek(0)
    damaged = chunk(0, 1, partition=T1)
    damaged.data[-1] ^= 1
    assignment[T1].add(damaged)
    assert taken(assignment) == [(0, [0, 1])]
    for _ in range(2):
        with pytest.raises(CorruptMessage):
            taken(assignment)


def test_a_partition_that_comes_back_is_another_one() -> None:
    """Else what was asked for before would be taken for what is asked for now, from elsewhere."""
    assignment = Assignment()
    seen: set[int] = set()
    for _ in range(3):
        assignment.replace([T0])
        assignment[T0].seek(0)
        assert assignment[T0].version not in seen
        seen.add(assignment[T0].version)
        assignment.replace([])
