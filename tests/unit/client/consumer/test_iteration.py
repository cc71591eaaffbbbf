"""Records come one by one, and every portion of them counts as a poll."""

import pytest

from moldau.client.consumer.assignment import Assignment
from moldau.client.consumer.iteration import Iteration
from moldau.errors import ErrorCode, KafkaError, RequestTimedOut
from moldau.model import TopicPartition
from unit.client.consumer.test_assignment import chunk

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Progress:
    """Counts what the iteration says."""

    def __init__(self) -> None:
        self.noted = self.prepared = 0

    def note(self) -> None:
        self.noted += 1

    def prepare(self) -> None:
        self.prepared += 1

    async def wait(self) -> None:
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, "nothing to come")


@pytest.fixture
def assignment() -> Assignment:
    made = Assignment()
    made.replace([T0, T1])
    for partition in (T0, T1):
        made[partition].seek(0)
        made[partition].add(chunk(0, 1, 2, partition=partition))
    return made


@pytest.fixture
def progress() -> Progress:
    return Progress()


@pytest.fixture
def iteration(assignment: Assignment, progress: Progress) -> Iteration:
    return Iteration(
        assignment, 2, prepare=progress.prepare, wait=progress.wait, note=progress.note
    )


def portion(iteration: Iteration) -> list[tuple[int, int]]:
    found = []
    while (record := iteration.records.take()) is not None:
        found.append((record.partition, record.offset))
    return found


async def test_partitions_take_turns_portion_by_portion(
    iteration: Iteration, progress: Progress
) -> None:
    portions = []
    for _ in range(4):
        await iteration.begin_portion()
        portions.append(portion(iteration))
    assert portions == [[(0, 0), (0, 1)], [(1, 0), (1, 1)], [(0, 2)], [(1, 2)]]
    assert progress.noted == progress.prepared == 4
    with pytest.raises(RequestTimedOut):
        await iteration.begin_portion()


async def test_a_portion_may_go_on_where_the_last_one_ended(
    iteration: Iteration, assignment: Assignment, progress: Progress
) -> None:
    assert not iteration.goes_on()
    await iteration.begin_portion()
    assert portion(iteration) == [(0, 0), (0, 1)]
    assert assignment.consumed_offsets()[T0] == 0
    assert iteration.goes_on()
    assert assignment.consumed_offsets()[T0] == 2
    assert portion(iteration) == [(0, 2)]
    assert not iteration.goes_on()
    assert (progress.noted, progress.prepared) == (2, 1)


async def test_what_was_dropped_is_not_handed_out(
    iteration: Iteration, assignment: Assignment
) -> None:
    await iteration.begin_portion()
    assignment[T0].seek(7)
    assert portion(iteration) == []
    assert not iteration.goes_on()


async def test_a_portion_can_be_stopped_without_losing_anything(iteration: Iteration) -> None:
    await iteration.begin_portion()
    iteration.stop()
    assert portion(iteration) == []
    assert not iteration.goes_on()
    await iteration.begin_portion()
    await iteration.begin_portion()
    assert portion(iteration) == [(0, 0), (0, 1)]
