"""All transactional ids of one partition of `__transaction_state`: what a shard keeps.

A step is decided on what is stored; that what is stored is also committed, the service
makes sure of before (see `last_offset`).
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from moldau.config.broker.transactions import TransactionConfig
from moldau.coordinator.decision import Decision, RecordSource
from moldau.coordinator.timers import Timers
from moldau.coordinator.transaction import records
from moldau.coordinator.transaction.records import TransactionRecord
from moldau.coordinator.transaction.state import TransactionState
from moldau.coordinator.transaction.transaction import ProducerIdentity, Transaction
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.records.pairs import Pair
from moldau.runtime.clock import Moment

PREPARED: Hashable = "prepared transactions"
"""What waiters are woken by when there is something to complete."""

Step = Decision[TransactionRecord, None]
Errors = dict[TopicPartition, ErrorCode]


class Initialisation(NamedTuple):
    """What a producer asks for when it begins, or goes on after an error (KIP-360)."""

    timeout_ms: int
    expected: ProducerIdentity | None = None


class _Kept(NamedTuple):
    transaction: Transaction
    log_offset: int


class Transactions:
    """The transactions by id."""

    def __init__(self, config: TransactionConfig) -> None:
        self._config = config
        self._kept: dict[str, _Kept] = {}
        self._prepared: dict[str, None] = {}
        self._timers: Timers[str] = Timers()

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, transactional_id: str) -> Transaction | None:
        """What is stored about an id."""
        kept = self._kept.get(transactional_id)
        return None if kept is None else kept.transaction

    def last_offset(self, transactional_id: str) -> int | None:
        """Where the last step of an id is in the log: until it is committed, none may follow."""
        kept = self._kept.get(transactional_id)
        return None if kept is None else kept.log_offset

    def items(self) -> list[tuple[str, Transaction]]:
        """All ids with what is stored about them."""
        return [(key, kept.transaction) for key, kept in self._kept.items()]

    # Producers

    def needs_producer_id(self, transactional_id: str, expected: ProducerIdentity | None) -> bool:
        """Whether `initialise` would use a new producer id."""
        transaction = self.find(transactional_id)
        if transaction is None:
            return True
        is_busy = transaction.state is TransactionState.ONGOING or transaction.state.is_prepared
        return not is_busy and transaction.needs_producer_id(expected)

    def initialise(
        self, transactional_id: str, asked: Initialisation, *, new_producer_id: int, now: Moment
    ) -> Decision[TransactionRecord, ProducerIdentity | None]:
        """Give a producer its id and epoch; all before it are fenced.

        Replies None if a transaction had to be aborted first: the producer asks again.
        """
        longest_ms = self._config.transaction_max_timeout_ms
        if not 0 < asked.timeout_ms <= longest_ms:
            message = f"{asked.timeout_ms} ms are not within 1 and {longest_ms}"
            raise KafkaError(ErrorCode.INVALID_TRANSACTION_TIMEOUT, message)
        transaction = self.find(transactional_id)
        if transaction is None:
            first = Transaction(
                producer_id=new_producer_id,
                epoch=0,
                timeout_ms=asked.timeout_ms,
                update_timestamp=now.wall_ms,
            )
            return Decision(first.identity, [TransactionRecord(transactional_id, first)])
        expected = asked.expected
        if expected is not None:
            transaction.require_known(expected)
        if transaction.state.is_prepared:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        if transaction.state is TransactionState.ONGOING:
            if expected is not None:
                # Kafka lets a fenced producer abort the transaction of its successor here.
                transaction.require(expected)
            fenced = transaction.fenced(wall_ms=now.wall_ms, expected=expected)
            return Decision(None, [TransactionRecord(transactional_id, fenced)])
        if transaction.needs_producer_id(expected):
            begun = transaction.rotated(new_producer_id, expected)
        else:
            begun = transaction.bumped(expected)
        begun = begun.with_timeout(asked.timeout_ms, wall_ms=now.wall_ms)
        return Decision(begun.identity, [TransactionRecord(transactional_id, begun)])

    # Transactions

    def add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdentity,
        partitions: Sequence[TopicPartition],
        *,
        now: Moment,
    ) -> Step:
        """Let partitions take part; without a transaction one begins."""
        transaction = self._require(transactional_id, producer)
        if transaction.state.is_prepared:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        is_open = transaction.state is TransactionState.ONGOING
        if is_open and all(each in transaction.partitions for each in partitions):
            return Decision(None)
        joined = transaction.joined_by(partitions, wall_ms=now.wall_ms)
        return Decision(None, [TransactionRecord(transactional_id, joined)])

    def verify(
        self,
        transactional_id: str,
        producer: ProducerIdentity,
        partitions: Iterable[TopicPartition],
    ) -> Errors:
        """Which partitions take part in the producer's open transaction (KIP-890)."""
        transaction = self._require(transactional_id, producer)
        if transaction.state.is_prepared:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        return {
            each: ErrorCode.NONE
            if each in transaction.partitions
            else ErrorCode.TRANSACTION_ABORTABLE
            for each in partitions
        }

    def end(
        self, transactional_id: str, producer: ProducerIdentity, *, is_commit: bool, now: Moment
    ) -> Step:
        """Decide the outcome; asking again for a completed one succeeds."""
        transaction = self._require(transactional_id, producer)
        state = transaction.state
        if state is TransactionState.ONGOING:
            prepared = transaction.prepared(is_commit=is_commit, wall_ms=now.wall_ms)
            return Decision(None, [TransactionRecord(transactional_id, prepared)])
        if state.is_prepared:
            # Even for the other outcome, as in Kafka: its completion is under way.
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        outcome = TransactionState.COMPLETE_COMMIT if is_commit else TransactionState.COMPLETE_ABORT
        if state is not outcome:
            message = f"{transactional_id} is {state.label}"
            raise KafkaError(ErrorCode.INVALID_TXN_STATE, message)
        return Decision(None)

    def complete(self, transactional_id: str, *, log_offset: int, now: Moment) -> Step:
        """Every partition has its marker for what was prepared at `log_offset`."""
        kept = self._kept.get(transactional_id)
        if kept is None or kept.log_offset != log_offset:
            return Decision(None)
        completed = kept.transaction.completed(wall_ms=now.wall_ms)
        return Decision(None, [TransactionRecord(transactional_id, completed)])

    def _require(self, transactional_id: str, producer: ProducerIdentity) -> Transaction:
        transaction = self.find(transactional_id)
        if transaction is None:
            raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        transaction.require(producer)
        return transaction

    # Time

    def forgettable(self, *, now: Moment) -> list[str]:
        """The ids that no producer has used for long."""
        until_ms = now.wall_ms - self._config.transactional_id_expiration_ms
        return [
            key
            for key, (transaction, _) in self._kept.items()
            if transaction.update_timestamp <= until_ms
            and TransactionState.DEAD.may_follow(transaction.state)
        ]

    def next_deadline_ms(self) -> int | None:
        """When the next open transaction will have taken too long."""
        return self._timers.next_deadline_ms()

    def take_due(self, *, now: Moment) -> list[str]:
        """The ids whose transactions have taken too long."""
        return self._timers.take_due(now_ms=now.monotonic_ms)

    def expire(self, key: str, *, now: Moment) -> Step:
        """Abort a transaction that has taken too long, and fence its producer."""
        transaction = self.find(key)
        assert transaction is not None
        assert transaction.state is TransactionState.ONGOING
        # If that cannot be stored now, it will be tried again.
        pause_ms = self._config.transaction_abort_timed_out_transaction_cleanup_interval_ms
        self._timers.set(key, now.monotonic_ms + pause_ms)
        return Decision(None, [TransactionRecord(key, transaction.fenced(wall_ms=now.wall_ms))])

    # What the shard needs

    def encode(self, steps: Sequence[TransactionRecord]) -> Iterable[Pair]:
        """Keys and values."""
        return map(records.encode, steps)

    def apply(self, steps: Sequence[TransactionRecord], source: RecordSource) -> None:
        """Steps were appended."""
        for log_offset, step in enumerate(steps, source.log_offset):
            self._apply(step, source._replace(log_offset=log_offset))

    def _apply(self, record: TransactionRecord, source: RecordSource) -> None:
        key, transaction = record
        before = self.find(key)
        state = TransactionState.DEAD if transaction is None else transaction.state
        assert before is None or state.may_follow(before.state), f"{before} -> {state}"
        self._become(record, source)
        self._plan(key, now=source.moment)

    def replay(self, key: bytes, value: bytes | None, source: RecordSource) -> None:
        """Read a step back."""
        record = records.decode(key, value)
        if record is not None:
            self._become(record, source)

    def _become(self, record: TransactionRecord, source: RecordSource) -> None:
        key, transaction = record
        if transaction is None:
            self._kept.pop(key, None)
        else:
            self._kept[key] = _Kept(transaction, source.log_offset)

    def _plan(self, key: str, *, now: Moment) -> None:
        """What is open has a deadline, what is prepared has to be completed."""
        transaction = self.find(key)
        self._prepared.pop(key, None)
        if transaction is not None and transaction.state is TransactionState.ONGOING:
            left_ms = max(transaction.deadline_timestamp - now.wall_ms, 0)
            self._timers.set(key, now.monotonic_ms + left_ms)
            return
        self._timers.cancel(key)
        if transaction is not None and transaction.state.is_prepared:
            self._prepared[key] = None

    def end_transaction(self, producer_id: int, *, is_commit: bool) -> None:
        """The coordinator's own records are not part of transactions."""

    def begin(self, *, now: Moment) -> None:
        """Everything was read back: go on where the last coordinator stopped."""
        for key in self._kept:
            self._plan(key, now=now)

    def unload(self) -> None:
        """No request is parked here."""

    def take_answered(self) -> Sequence[Hashable]:
        """Wakes the task that completes transactions when there are some."""
        return (PREPARED,) if self._prepared else ()

    @property
    def has_prepared(self) -> bool:
        return bool(self._prepared)

    def take_prepared(self) -> list[str]:
        """The ids whose transactions are to be completed; each is returned once."""
        taken, self._prepared = list(self._prepared), {}
        return taken
