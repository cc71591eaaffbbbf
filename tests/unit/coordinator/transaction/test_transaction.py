"""One transactional id, step by step."""

from dataclasses import replace

import pytest

from moldau.coordinator.transaction.state import TransactionState
from moldau.coordinator.transaction.transaction import LAST_EPOCH, ProducerIdentity, Transaction
from moldau.errors import KafkaError
from moldau.model import TopicPartition

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
EMPTY = Transaction(producer_id=7, epoch=2, timeout_ms=60_000, update_timestamp=50)
OPEN = EMPTY.joined_by([T0], wall_ms=100)


def refusal_of(step: object, *arguments: object) -> str:
    with pytest.raises(KafkaError) as raised:
        step(*arguments)  # type: ignore[operator]
    return raised.value.code.name


def test_only_the_current_producer_may_act() -> None:
    EMPTY.require(ProducerIdentity(7, 2))
    assert refusal_of(EMPTY.require, ProducerIdentity(8, 2)) == "INVALID_PRODUCER_ID_MAPPING"
    assert refusal_of(EMPTY.require, ProducerIdentity(7, 1)) == "PRODUCER_FENCED"
    assert refusal_of(EMPTY.require, ProducerIdentity(7, 3)) == "PRODUCER_FENCED"


def test_a_transaction_begins_with_its_first_partition() -> None:
    later = OPEN.joined_by([T1, T0], wall_ms=300)
    assert list(later.partitions) == [T0, T1]
    assert (later.start_timestamp, later.update_timestamp) == (100, 300)
    assert later.deadline_timestamp == 60_100
    assert OPEN.completed(wall_ms=9).joined_by([T1], wall_ms=400).start_timestamp == 400


def test_an_outcome_keeps_the_partitions_until_it_is_told() -> None:
    prepared = OPEN.prepared(is_commit=True, wall_ms=200)
    assert prepared.state is TransactionState.PREPARE_COMMIT
    assert list(prepared.partitions) == [T0]
    completed = prepared.completed(wall_ms=300)
    assert completed.state is TransactionState.COMPLETE_COMMIT
    assert not completed.partitions
    assert (completed.start_timestamp, completed.update_timestamp) == (100, 300)
    aborted = OPEN.prepared(is_commit=False, wall_ms=200).completed(wall_ms=300)
    assert aborted.state is TransactionState.COMPLETE_ABORT


def test_fencing_aborts_in_the_next_epoch() -> None:
    fenced = OPEN.fenced(wall_ms=200)
    assert fenced.state is TransactionState.PREPARE_ABORT
    assert fenced.identity == ProducerIdentity(7, 3)
    assert fenced.last_epoch == -1
    assert OPEN.fenced(wall_ms=200, expected=OPEN.identity).last_epoch == 2
    last = replace(OPEN, epoch=LAST_EPOCH)
    assert last.fenced(wall_ms=200, expected=last.identity).last_epoch == -1


def test_a_new_producer_gets_the_next_epoch() -> None:
    begun = OPEN.prepared(is_commit=True, wall_ms=2).completed(wall_ms=3).bumped(None)
    assert begun.identity == ProducerIdentity(7, 3)
    assert begun.state is TransactionState.EMPTY
    assert begun.start_timestamp == -1


def test_a_producer_that_goes_on_is_told_the_same_twice() -> None:
    bumped = EMPTY.bumped(EMPTY.identity)
    assert bumped.identity == ProducerIdentity(7, 3)
    assert bumped.bumped(EMPTY.identity).identity == ProducerIdentity(7, 3)
    assert refusal_of(bumped.bumped, ProducerIdentity(7, 1)) == "PRODUCER_FENCED"
    assert refusal_of(bumped.bumped(None).bumped, EMPTY.identity) == "PRODUCER_FENCED"


def test_the_last_epoch_is_followed_by_another_producer_id() -> None:
    last = replace(EMPTY, epoch=LAST_EPOCH)
    assert last.needs_producer_id(None)
    assert last.needs_producer_id(last.identity)
    assert not last.needs_producer_id(EMPTY.identity)
    assert not EMPTY.needs_producer_id(None)
    rotated = last.rotated(9, last.identity)
    assert rotated.identity == ProducerIdentity(9, 0)
    rotated.require_known(last.identity)
    assert rotated.bumped(last.identity).identity == ProducerIdentity(9, 0)
    assert refusal_of(last.rotated(9, None).bumped, last.identity) == "PRODUCER_FENCED"


def test_only_who_had_the_id_may_go_on() -> None:
    EMPTY.require_known(ProducerIdentity(7, 0))
    assert refusal_of(EMPTY.require_known, ProducerIdentity(8, 2)) == "PRODUCER_FENCED"
    rotated = replace(EMPTY, epoch=LAST_EPOCH).rotated(9, None)
    assert refusal_of(rotated.require_known, ProducerIdentity(7, 3)) == "PRODUCER_FENCED"
