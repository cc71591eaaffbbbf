"""The transactional ids of one partition: most of it is told by the transcripts."""

from collections.abc import Callable
from functools import partial

import pytest

from moldau.config.broker.transactions import TransactionConfig
from moldau.coordinator.decision import RecordSource
from moldau.coordinator.transaction.records import TransactionRecord, encode
from moldau.coordinator.transaction.transaction import ProducerIdentity, Transaction
from moldau.coordinator.transaction.transactions import PREPARED, Initialisation, Transactions
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_PRODUCER_ID, TopicPartition
from moldau.runtime.clock import Moment

T0 = TopicPartition("t", 0)
NOW = Moment(1000, 1_700_000_000_000)
FIRST = Transaction(producer_id=7, epoch=0, timeout_ms=500, update_timestamp=NOW.wall_ms)
OPEN = FIRST.joined_by([T0], wall_ms=NOW.wall_ms)
PREPARED_COMMIT = OPEN.prepared(is_commit=True, wall_ms=NOW.wall_ms)


@pytest.fixture
def machine() -> Transactions:
    return Transactions(TransactionConfig())


def apply(machine: Transactions, key: str, *steps: Transaction | None) -> None:
    for offset, step in enumerate(steps):
        machine.apply([TransactionRecord(key, step)], RecordSource(offset, NO_PRODUCER_ID, NOW))


def replay(machine: Transactions, key: str, step: Transaction) -> None:
    machine.replay(*encode(TransactionRecord(key, step)), RecordSource(5, NO_PRODUCER_ID, NOW))


def test_deadlines_go_by_the_clock_that_never_jumps(machine: Transactions) -> None:
    apply(machine, "tx", FIRST)
    assert machine.next_deadline_ms() is None
    apply(machine, "tx", OPEN)
    assert machine.next_deadline_ms() == 1500
    assert machine.take_due(now=Moment(1499, 0)) == []
    assert machine.take_due(now=Moment(1500, 0)) == ["tx"]


def test_an_ended_transaction_has_no_deadline(machine: Transactions) -> None:
    apply(machine, "tx", FIRST, OPEN, PREPARED_COMMIT)
    assert machine.next_deadline_ms() is None


def test_what_is_prepared_is_told_once(machine: Transactions) -> None:
    apply(machine, "tx", FIRST, OPEN)
    assert not machine.take_answered()
    apply(machine, "tx", PREPARED_COMMIT)
    assert machine.take_answered() == (PREPARED,)
    assert machine.has_prepared
    assert machine.take_prepared() == ["tx"]
    assert machine.take_prepared() == []
    assert not machine.take_answered()


def test_replay_plans_nothing_until_it_is_over(machine: Transactions) -> None:
    replay(machine, "open", OPEN)
    replay(machine, "prepared", PREPARED_COMMIT)
    assert machine.next_deadline_ms() is None
    assert not machine.has_prepared
    machine.begin(now=Moment(2000, NOW.wall_ms + 400))
    assert machine.next_deadline_ms() == 2100
    assert machine.take_prepared() == ["prepared"]
    assert machine.last_offset("open") == 5


def test_records_of_other_kinds_are_skipped(machine: Transactions) -> None:
    machine.replay(b"\0\1\0\2tx", None, RecordSource(0, NO_PRODUCER_ID, NOW))
    assert len(machine) == 0


def test_completion_is_for_the_step_it_was_begun_for(machine: Transactions) -> None:
    apply(machine, "tx", FIRST, OPEN, PREPARED_COMMIT)
    assert not machine.complete("tx", log_offset=1, now=NOW).records
    assert not machine.complete("other", log_offset=2, now=NOW).records
    (record,) = machine.complete("tx", log_offset=2, now=NOW).records
    assert record.transaction == PREPARED_COMMIT.completed(wall_ms=NOW.wall_ms)


def test_a_step_that_cannot_follow_stops_the_process(machine: Transactions) -> None:
    apply(machine, "tx", FIRST)
    with pytest.raises(AssertionError):
        apply(machine, "tx", PREPARED_COMMIT)


def test_a_producer_id_is_needed_for_new_ids_and_after_the_last_epoch(
    machine: Transactions,
) -> None:
    assert machine.needs_producer_id("tx", None)
    apply(machine, "tx", FIRST)
    assert not machine.needs_producer_id("tx", None)


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
def test_timeouts_have_bounds(machine: Transactions, timeout_ms: int) -> None:
    asked = Initialisation(timeout_ms)
    with pytest.raises(KafkaError, match="ms are not within"):
        machine.initialise("tx", asked, new_producer_id=1, now=NOW)


def test_a_producer_may_change_its_timeout(machine: Transactions) -> None:
    apply(machine, "tx", FIRST)
    later = Moment(2000, NOW.wall_ms + 1000)
    decision = machine.initialise("tx", Initialisation(900), new_producer_id=-1, now=later)
    (record,) = decision.records
    assert decision.reply == ProducerIdentity(7, 1)
    assert record.transaction is not None
    assert (record.transaction.timeout_ms, record.transaction.update_timestamp) == (
        900,
        later.wall_ms,
    )


def code_of(step: Callable[[], object]) -> ErrorCode:
    with pytest.raises(KafkaError) as raised:
        step()
    return raised.value.code


def test_nothing_begins_while_an_outcome_is_being_told(machine: Transactions) -> None:
    apply(machine, "tx", FIRST, OPEN, PREPARED_COMMIT)
    producer, concurrent = FIRST.identity, ErrorCode.CONCURRENT_TRANSACTIONS
    asked = Initialisation(500)
    for step in (
        lambda: machine.initialise("tx", asked, new_producer_id=-1, now=NOW),
        lambda: machine.add_partitions("tx", producer, [T0], now=NOW),
        lambda: machine.verify("tx", producer, [T0]),
        lambda: machine.end("tx", producer, is_commit=True, now=NOW),
        lambda: machine.end("tx", producer, is_commit=False, now=NOW),
    ):
        assert code_of(step) is concurrent


def test_an_ending_that_is_asked_for_again_must_be_the_same(machine: Transactions) -> None:
    completed = PREPARED_COMMIT.completed(wall_ms=NOW.wall_ms)
    apply(machine, "tx", FIRST, OPEN, PREPARED_COMMIT, completed)
    assert not machine.end("tx", FIRST.identity, is_commit=True, now=NOW).records
    other = partial(machine.end, "tx", FIRST.identity, is_commit=False, now=NOW)
    assert code_of(other) is ErrorCode.INVALID_TXN_STATE


def test_partitions_that_take_part_already_are_not_written_again(machine: Transactions) -> None:
    apply(machine, "tx", FIRST, OPEN)
    assert not machine.add_partitions("tx", FIRST.identity, [T0], now=NOW).records
    added = [TopicPartition("t", 1), T0]
    assert machine.add_partitions("tx", FIRST.identity, added, now=NOW).records


def test_a_transaction_may_begin_without_partitions(machine: Transactions) -> None:
    apply(machine, "tx", FIRST)
    assert len(machine.add_partitions("tx", ProducerIdentity(7, 0), [], now=NOW).records) == 1
    apply(machine, "tx", OPEN)
    assert not machine.add_partitions("tx", ProducerIdentity(7, 0), [T0], now=NOW).records


def test_a_transaction_of_an_unknown_id_is_refused(machine: Transactions) -> None:
    with pytest.raises(KafkaError) as raised:
        machine.add_partitions("tx", ProducerIdentity(7, 0), [T0], now=NOW)
    assert raised.value.code is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_a_producer_whose_epochs_are_used_up_gets_another_id(machine: Transactions) -> None:
    last = Transaction(producer_id=7, epoch=32_766, timeout_ms=500, update_timestamp=NOW.wall_ms)
    apply(machine, "tx", last)
    decision = machine.initialise("tx", Initialisation(500, None), new_producer_id=8, now=NOW)
    assert decision.reply == ProducerIdentity(8, 0)


def test_an_id_that_expired_is_forgotten_also_when_it_is_read_back(machine: Transactions) -> None:
    replay(machine, "tx", FIRST)
    assert len(machine) == 1
    key, _ = encode(TransactionRecord("tx", FIRST))
    machine.replay(key, None, RecordSource(6, NO_PRODUCER_ID, NOW))
    assert len(machine) == 0
