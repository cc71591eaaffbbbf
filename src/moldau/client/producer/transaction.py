"""A producer's transaction: what may be done now, and what an error means for it.

*Idle*, then *open*, then *ending*, then idle again. An error may leave it *spoiled*: it can only
be aborted. Or *lost*: another has the transactional id now, or this one may not have it at all, and
only a new producer can go on.
"""

from enum import Enum, auto

from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

# A producer that gets these from a coordinator has been replaced.
_TAKEN_OVER = (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH)
_FATAL = (
    *_TAKEN_OVER,
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ErrorCode.INVALID_TXN_STATE,
    ErrorCode.UNSUPPORTED_VERSION,
)
# The leader of a partition may say this of an epoch that the coordinator has raised to abort a
# transaction that took too long; the coordinator knows whether more is behind it (KIP-588).
_LEADERS_MAY_ERR = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_TXN_STATE)


class TransactionPhase(Enum):
    """How far a transaction is."""

    IDLE = auto()
    OPEN = auto()
    SPOILED = auto()
    COMMITTING = auto()
    ABORTING = auto()
    LOST = auto()


class ProducerTransaction:
    """One transaction after the other, of one transactional id."""

    def __init__(self, transactional_id: str) -> None:
        self.transactional_id = transactional_id
        self.phase = TransactionPhase.IDLE
        self.error: KafkaError | None = None
        self.partitions: set[TopicPartition] = set()
        """Those that the coordinator knows to be part of it."""
        self.groups: set[str] = set()
        self.is_end_asked = False
        """Whether the coordinator was asked to end it, and may have done so."""
        self.needs_new_epoch = False
        """Whether batches were lost, so that brokers would miss their numbers."""

    @property
    def is_empty(self) -> bool:
        """Whether the coordinator does not know of it."""
        return not self.partitions and not self.groups

    @property
    def can_abort(self) -> bool:
        """Whether there is something to abort; once a commit was sent, that is unknown."""
        if self.phase is TransactionPhase.COMMITTING:
            return not self.is_end_asked
        return self.phase in (
            TransactionPhase.OPEN,
            TransactionPhase.SPOILED,
            TransactionPhase.ABORTING,
        )

    def begin(self) -> None:
        """Open a transaction."""
        self._raise_if_lost()
        if self.phase is not TransactionPhase.IDLE:
            raise self._wrong("another transaction is not over yet")
        self.phase = TransactionPhase.OPEN

    def check_open(self) -> None:
        """Raise unless records may be sent now."""
        self._raise_if_lost()
        if self.phase is TransactionPhase.SPOILED and self.error is not None:
            raise KafkaError(self.error.code, f"the transaction must be aborted: {self.error}")
        if self.phase is not TransactionPhase.OPEN:
            raise self._wrong("records are sent within a transaction: begin one first")

    def commit(self) -> None:
        """Begin the end; may be called again if the end did not come in time."""
        if self.phase is not TransactionPhase.COMMITTING:
            self.check_open()
            self.phase = TransactionPhase.COMMITTING

    def abort(self) -> None:
        """Begin the end of it all."""
        self._raise_if_lost()
        if self.phase is TransactionPhase.IDLE:
            raise self._wrong("there is no transaction to abort")
        self.phase = TransactionPhase.ABORTING

    def end(self) -> None:
        """The coordinator has decided."""
        self.phase = TransactionPhase.IDLE
        self.is_end_asked = False
        self.error = None
        self.partitions.clear()
        self.groups.clear()

    def fail_batch(self, error: KafkaError) -> None:
        """Records are lost, and with them their numbers."""
        self.needs_new_epoch = True
        self._fail(error, is_fatal=error.code in _FATAL and error.code not in _LEADERS_MAY_ERR)

    def fail(self, error: KafkaError) -> None:
        """A coordinator has refused something."""
        if error.code in (ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.INVALID_PRODUCER_ID_MAPPING):
            self.needs_new_epoch = True
        self._fail(error, is_fatal=error.code in _FATAL)

    def lose(self, error: KafkaError) -> None:
        """Nothing can be done with this producer any more."""
        self._fail(error, is_fatal=True)

    def _fail(self, error: KafkaError, *, is_fatal: bool) -> None:
        if self.phase is TransactionPhase.LOST:
            return
        if is_fatal:
            self.phase = TransactionPhase.LOST
            self.error = error
        elif self.phase in (TransactionPhase.OPEN, TransactionPhase.COMMITTING):
            self.phase = TransactionPhase.SPOILED
            self.error = error

    def _raise_if_lost(self) -> None:
        if self.phase is not TransactionPhase.LOST:
            return
        assert self.error is not None, "it is lost for a reason"
        why = str(self.error)
        if self.error.code in _TAKEN_OVER:
            why = f"another producer with this transactional.id has taken over ({why})"
        raise KafkaError(self.error.code, f"{self.transactional_id}: {why}; make a new producer")

    def _wrong(self, why: str) -> KafkaError:
        return KafkaError(ErrorCode.INVALID_TXN_STATE, f"{self.transactional_id}: {why}")
