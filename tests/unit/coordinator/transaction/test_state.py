"""The states of a transactional id."""

import pytest

from moldau.coordinator.transaction.state import STATES_BY_LABEL, TransactionState

S = TransactionState


def test_states_have_the_numbers_and_names_of_kafka() -> None:
    assert {state.label: state.value for state in S} == {
        "Empty": 0,
        "Ongoing": 1,
        "PrepareCommit": 2,
        "PrepareAbort": 3,
        "CompleteCommit": 4,
        "CompleteAbort": 5,
        "Dead": 6,
        "PrepareEpochFence": 7,
    }
    assert STATES_BY_LABEL["PrepareAbort"] is S.PREPARE_ABORT


@pytest.mark.parametrize(
    ("state", "before"),
    [
        (S.EMPTY, {S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT}),
        (S.ONGOING, {S.ONGOING, S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT}),
        (S.PREPARE_COMMIT, {S.ONGOING}),
        (S.PREPARE_ABORT, {S.ONGOING}),
        (S.COMPLETE_COMMIT, {S.PREPARE_COMMIT}),
        (S.COMPLETE_ABORT, {S.PREPARE_ABORT}),
        (S.DEAD, {S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT}),
        (S.PREPARE_EPOCH_FENCE, {S.ONGOING}),
    ],
)
def test_a_state_follows_only_those_it_may(state: S, before: set[S]) -> None:
    assert {each for each in S if state.may_follow(each)} == before


def test_only_the_decided_and_untold_are_prepared() -> None:
    assert [state for state in S if state.is_prepared] == [S.PREPARE_COMMIT, S.PREPARE_ABORT]
