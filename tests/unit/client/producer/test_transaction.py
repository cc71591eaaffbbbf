"""A transaction's phases, and what errors do to it."""

import pytest

from moldau.client.producer.transaction import ProducerTransaction, TransactionPhase
from moldau.errors import (
    ErrorCode,
    InvalidTxnState,
    KafkaError,
    ProducerFenced,
    TopicAuthorizationFailed,
    TransactionalIdAuthorizationFailed,
)
from moldau.model import TopicPartition

DENIED = KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "no")
FENCED = KafkaError(ErrorCode.PRODUCER_FENCED, "fenced")


@pytest.fixture
def transaction() -> ProducerTransaction:
    return ProducerTransaction("id")


def test_one_comes_after_the_other(transaction: ProducerTransaction) -> None:
    for end in (transaction.commit, transaction.abort):
        transaction.begin()
        transaction.check_open()
        transaction.partitions.add(TopicPartition("t", 0))
        transaction.groups.add("g")
        end()
        with pytest.raises(InvalidTxnState):
            transaction.check_open()
        transaction.end()
        assert (transaction.is_empty, transaction.phase) == (True, TransactionPhase.IDLE)


def test_nothing_happens_outside_of_one(transaction: ProducerTransaction) -> None:
    with pytest.raises(InvalidTxnState, match="id: records are sent within a transaction"):
        transaction.check_open()
    with pytest.raises(InvalidTxnState, match="within a transaction"):
        transaction.commit()
    with pytest.raises(InvalidTxnState, match="no transaction to abort"):
        transaction.abort()
    transaction.begin()
    with pytest.raises(InvalidTxnState, match="not over yet"):
        transaction.begin()


def test_a_commit_whose_end_is_unknown_can_be_asked_for_again(
    transaction: ProducerTransaction,
) -> None:
    transaction.begin()
    transaction.commit()
    transaction.commit()
    assert transaction.phase is TransactionPhase.COMMITTING


def test_a_spoiled_transaction_can_only_be_aborted(transaction: ProducerTransaction) -> None:
    transaction.begin()
    transaction.fail(DENIED)
    for attempt in (transaction.check_open, transaction.commit):
        with pytest.raises(TopicAuthorizationFailed, match="must be aborted: no"):
            attempt()
    transaction.abort()
    transaction.fail(DENIED)
    assert transaction.phase is TransactionPhase.ABORTING
    transaction.end()
    transaction.begin()
    transaction.check_open()


def test_an_error_while_committing_spoils_it_too(transaction: ProducerTransaction) -> None:
    transaction.begin()
    transaction.commit()
    transaction.fail_batch(DENIED)
    assert transaction.phase is TransactionPhase.SPOILED
    assert transaction.needs_new_epoch


def test_who_was_replaced_cannot_go_on(transaction: ProducerTransaction) -> None:
    transaction.begin()
    transaction.fail(FENCED)
    transaction.fail(DENIED)
    for attempt in (
        transaction.check_open,
        transaction.commit,
        transaction.abort,
        transaction.begin,
    ):
        with pytest.raises(ProducerFenced, match=r"has taken over \(fenced\); make a new"):
            attempt()


def test_who_may_not_have_the_id_cannot_go_on(transaction: ProducerTransaction) -> None:
    transaction.lose(KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "no"))
    with pytest.raises(TransactionalIdAuthorizationFailed, match="id: no; make a new producer"):
        transaction.begin()


@pytest.mark.parametrize(
    ("code", "phase"),
    [
        (ErrorCode.INVALID_PRODUCER_EPOCH, TransactionPhase.SPOILED),
        (ErrorCode.INVALID_TXN_STATE, TransactionPhase.SPOILED),
        (ErrorCode.PRODUCER_FENCED, TransactionPhase.LOST),
        (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, TransactionPhase.LOST),
    ],
)
def test_a_leader_may_err_about_an_epoch(
    transaction: ProducerTransaction, code: ErrorCode, phase: TransactionPhase
) -> None:
    transaction.begin()
    transaction.fail_batch(KafkaError(code))
    assert transaction.phase is phase


def test_a_coordinator_does_not_err_about_an_epoch(transaction: ProducerTransaction) -> None:
    transaction.begin()
    transaction.fail(KafkaError(ErrorCode.INVALID_PRODUCER_EPOCH))
    assert transaction.phase is TransactionPhase.LOST


def test_an_id_that_brokers_forgot_needs_a_new_epoch(transaction: ProducerTransaction) -> None:
    transaction.begin()
    transaction.fail(KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING))
    assert transaction.needs_new_epoch
    assert transaction.phase is TransactionPhase.SPOILED


def test_an_error_between_transactions_changes_nothing(transaction: ProducerTransaction) -> None:
    transaction.fail(DENIED)
    transaction.begin()
    transaction.check_open()


def test_it_is_empty_until_something_is_in_it(transaction: ProducerTransaction) -> None:
    transaction.groups.add("g")
    assert not transaction.is_empty


def test_what_may_be_committed_already_cannot_be_aborted(transaction: ProducerTransaction) -> None:
    can_abort = [transaction.can_abort]
    transaction.begin()
    can_abort.append(transaction.can_abort)
    transaction.commit()
    can_abort.append(transaction.can_abort)
    transaction.is_end_asked = True
    can_abort.append(transaction.can_abort)
    transaction.fail(DENIED)  # which says that it is not
    can_abort.append(transaction.can_abort)
    assert can_abort == [False, True, True, False, True]
    transaction.abort()
    transaction.end()
    assert not transaction.is_end_asked
