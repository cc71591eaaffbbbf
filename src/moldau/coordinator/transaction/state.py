"""The states of a transactional id, and which may follow which.

    Empty ──► Ongoing ──► PrepareCommit ──► CompleteCommit ──► Ongoing, Empty
                     └──► PrepareAbort ───► CompleteAbort ───► Ongoing, Empty

Producers move it to Empty (InitProducerId), to Ongoing (the first partition) and to Prepare
(EndTxn); time, or the next producer, moves Ongoing to PrepareAbort. From Prepare on the outcome
is certain: the coordinator moves it to Complete when every partition has its marker.
"""

from enum import IntEnum


class TransactionState(IntEnum):
    """As stored."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    # Kafka has these two in memory only; people may ask for them, and find none.
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def label(self) -> str:
        """As people read it."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def is_prepared(self) -> bool:
        """Whether the outcome is decided, but not known to all partitions."""
        return self in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)

    def may_follow(self, before: "TransactionState") -> bool:
        """Whether a transactional id may come here from `before`."""
        return before in _BEFORE[self]


_AT_REST = (
    TransactionState.EMPTY,
    TransactionState.COMPLETE_COMMIT,
    TransactionState.COMPLETE_ABORT,
)
_BEFORE = {
    TransactionState.EMPTY: _AT_REST,
    TransactionState.ONGOING: (TransactionState.ONGOING, *_AT_REST),
    TransactionState.PREPARE_COMMIT: (TransactionState.ONGOING,),
    TransactionState.PREPARE_ABORT: (TransactionState.ONGOING,),
    TransactionState.COMPLETE_COMMIT: (TransactionState.PREPARE_COMMIT,),
    TransactionState.COMPLETE_ABORT: (TransactionState.PREPARE_ABORT,),
    TransactionState.DEAD: _AT_REST,
    TransactionState.PREPARE_EPOCH_FENCE: (TransactionState.ONGOING,),
}

STATES_BY_LABEL = {state.label: state for state in TransactionState}
