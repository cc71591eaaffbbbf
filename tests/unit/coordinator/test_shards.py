"""Shards come and go with the leadership of their partitions."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moldau.coordinator.decision import Decision
from moldau.coordinator.shard import ShardPorts
from moldau.coordinator.shards import Shards
from moldau.errors import ErrorCode, KafkaError
from moldau.runtime.clock import SystemClock
from moldau.runtime.waiters import Waiters
from scenarios.memory_journal import MemoryJournal
from unit.coordinator.counter_machine import CounterMachine
from unit.coordinator.test_loading import append


@pytest.fixture
def clock() -> SystemClock:
    return SystemClock()


@pytest.fixture
async def shards(clock: SystemClock) -> AsyncIterator[Shards[CounterMachine]]:
    ports = ShardPorts(clock, Waiters(), 5.0)
    made = Shards("topic", CounterMachine, ports, partition_count=lambda: 50)
    running = asyncio.ensure_future(made.run())
    yield made
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def code_of(shards: Shards[CounterMachine], key: str) -> ErrorCode:
    with pytest.raises(KafkaError) as raised:
        shards.of(key)
    return raised.value.code


async def test_a_partition_is_loaded_before_it_is_served(
    shards: Shards[CounterMachine],
) -> None:
    journal = MemoryJournal()
    append(journal, 1, 2)
    assert code_of(shards, "a") is ErrorCode.NOT_COORDINATOR
    shards.lead(47, journal)
    assert shards.is_loading
    assert code_of(shards, "a") is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    await turns()
    assert shards.of("a").machine.sum == 3
    assert shards.of("a") is shards.at(47)
    assert list(shards) == [shards.at(47)]
    assert not shards.is_loading


async def test_a_new_epoch_of_the_same_leader_keeps_what_is_loaded(
    shards: Shards[CounterMachine],
) -> None:
    shards.lead(47, MemoryJournal())
    await turns()
    before = shards.of("a")
    journal = MemoryJournal()
    shards.lead(47, journal)
    assert shards.of("a") is before
    assert before.journal is journal


async def test_a_partition_that_is_lost_is_closed(shards: Shards[CounterMachine]) -> None:
    shards.lead(47, MemoryJournal())
    shards.resign(47)
    shards.resign(48)
    await turns()
    assert code_of(shards, "a") is ErrorCode.NOT_COORDINATOR


async def test_a_journal_that_cannot_be_read_is_not_served(
    shards: Shards[CounterMachine], caplog: pytest.LogCaptureFixture
) -> None:
    journal = MemoryJournal()
    append(journal, 1)
    journal.data[-1] ^= 1
    shards.lead(47, journal)
    shards.lead(0, MemoryJournal())
    await turns()
    assert code_of(shards, "a") is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert shards.at(0).is_loaded
    assert "Failed to load" in caplog.text
    journal.data[-1] ^= 1
    shards.lead(47, journal)
    await turns()
    assert shards.of("a").machine.sum == 1


async def test_deadlines_are_kept_also_those_that_come_up_later(
    shards: Shards[CounterMachine], clock: SystemClock
) -> None:
    shards.lead(47, MemoryJournal())
    await turns()
    one = shards.of("a")
    one.machine.timers.set(7, clock.monotonic_ms() + 3_600_000)
    shards.note_deadline(one)
    await turns()
    assert one.machine.sum == 0
    one.machine.timers.set(5, clock.monotonic_ms())
    shards.note_deadline(one)
    await turns()
    assert one.machine.sum == 5


async def test_what_cannot_be_written_at_a_deadline_is_told_in_the_log(
    shards: Shards[CounterMachine], caplog: pytest.LogCaptureFixture
) -> None:
    journal = MemoryJournal()
    shards.lead(47, journal)
    await turns()
    journal.failure = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    shards.of("a").machine.timers.set(5, 0)
    assert shards.expire() is None
    assert "NOT_ENOUGH_REPLICAS" in caplog.text or "journal" in caplog.text


async def test_a_loaded_shard_is_written_to(shards: Shards[CounterMachine]) -> None:
    journal = MemoryJournal()
    shards.lead(47, journal)
    await turns()
    shards.of("a").write(Decision(None, [4]))
    assert journal.end_offset == 1
