"""A shard writes before it applies, and tells only what is committed."""

import asyncio

import pytest

from moldau.coordinator.decision import Decision
from moldau.coordinator.shard import Shard, ShardPorts
from moldau.errors import ErrorCode, KafkaError
from moldau.records.batch import BatchHeader, Producer
from moldau.runtime.clock import Moment
from moldau.runtime.waiters import Waiters
from scenarios.group_script import ScriptClock
from scenarios.memory_journal import MemoryJournal
from unit.coordinator.counter_machine import CounterMachine


def shard(timeout_s: float = 5.0) -> Shard[CounterMachine]:
    ports = ShardPorts(ScriptClock(), Waiters(), timeout_s)
    return Shard(CounterMachine(), MemoryJournal(), ports)


def journal_of(shard: Shard[CounterMachine]) -> MemoryJournal:
    assert isinstance(shard.journal, MemoryJournal)
    return shard.journal


def test_records_are_applied_in_order_with_their_offsets() -> None:
    one = shard()
    assert one.write(Decision(None, [3, 4])) == 2
    assert one.write(Decision(None, [5])) == 3
    assert one.machine.sum == 12
    assert [source.log_offset for source in one.machine.sources] == [0, 1, 2]


def test_a_decision_without_records_writes_nothing() -> None:
    one = shard()
    assert one.write(Decision("reply")) == 0
    assert not journal_of(one).data


def test_what_cannot_be_appended_changes_nothing() -> None:
    one = shard()
    journal_of(one).failure = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    with pytest.raises(KafkaError):
        one.write(Decision(None, [3]))
    assert one.machine.sum == 0


def test_records_of_a_transaction_are_written_and_applied_as_such() -> None:
    one = shard()
    one.write(Decision(None, [3], producer=Producer(7, 1, -1)))
    header = BatchHeader.read(journal_of(one).data)
    assert header.is_transactional
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 1, -1)
    assert (one.machine.sum, one.machine.open) == (0, {7: 3})


async def test_a_reply_waits_until_its_records_are_committed() -> None:
    one = shard()
    journal_of(one).is_slow = True
    end_offset = one.write(Decision(None, [3]))
    waiting = asyncio.ensure_future(one.until_committed(end_offset))
    await asyncio.sleep(0)
    assert not waiting.done()
    journal_of(one).commit()
    one._ports.waiters.wake(one.journal.name)
    await waiting


async def test_what_is_not_committed_in_time_is_told_as_uncertain() -> None:
    one = shard(timeout_s=0.001)
    journal_of(one).is_slow = True
    with pytest.raises(KafkaError) as raised:
        await one.until_committed(one.write(Decision(None, [3])))
    assert raised.value.code is ErrorCode.REQUEST_TIMED_OUT


async def test_closing_tells_everybody_who_waits() -> None:
    one = shard()
    journal_of(one).is_slow = True
    committed = asyncio.ensure_future(one.until_committed(one.write(Decision(None, [3]))))
    answered = asyncio.ensure_future(one.until_answered(one.machine.park()))
    await asyncio.sleep(0)
    one.close()
    assert await answered == -1
    with pytest.raises(KafkaError) as raised:
        await committed
    assert raised.value.code is ErrorCode.NOT_COORDINATOR
    with pytest.raises(KafkaError):
        await one.until_committed(0)


async def test_a_parked_request_is_woken_by_its_answer() -> None:
    one = shard()
    parked = one.machine.park()
    waiting = asyncio.ensure_future(one.until_answered(parked))
    await asyncio.sleep(0)
    parked.reply = 5
    one.machine.answered.append(parked)
    one.write(Decision(None))
    assert await waiting == 5


def test_only_a_loaded_shard_serves() -> None:
    one = shard()
    with pytest.raises(KafkaError) as raised:
        one.require_loaded()
    assert raised.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    one.begin()
    one.require_loaded()
    assert one.machine.has_begun
    one.close()
    with pytest.raises(KafkaError) as raised:
        one.require_loaded()
    assert raised.value.code is ErrorCode.NOT_COORDINATOR


def test_each_deadline_is_written_and_a_failure_does_not_stop_the_others() -> None:
    one = shard()
    one.machine.timers.set(2, 10)
    one.machine.timers.set(3, 20)
    assert list(one.expire(now=Moment(15, 0))) == []
    assert one.machine.sum == 2
    journal_of(one).failure = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    assert [error.code for error in one.expire(now=Moment(25, 0))] == [
        ErrorCode.NOT_ENOUGH_REPLICAS
    ]
