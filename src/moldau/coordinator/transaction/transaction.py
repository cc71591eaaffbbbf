"""One transactional id: its producer, its epoch, and the transaction it is in.

A value: each step makes a new one, which counts once it is in the log. Rules and their
order are those of Kafka 3.9.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from moldau.coordinator.transaction.state import TransactionState
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_TIMESTAMP, TopicPartition

LAST_EPOCH = 2**15 - 2
"""The epoch after it is only for fencing: then a producer gets another id."""


class ProducerIdentity(NamedTuple):
    """A producer id in one of its epochs: one with a smaller epoch is fenced."""

    producer_id: int
    epoch: int


Partitions = Mapping[TopicPartition, None]
"""A set that keeps its order."""

_NO_PARTITIONS: Partitions = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """What is stored about a transactional id."""

    producer_id: int
    epoch: int
    timeout_ms: int
    state: TransactionState = TransactionState.EMPTY
    partitions: Partitions = field(default_factory=lambda: _NO_PARTITIONS)
    start_timestamp: int = NO_TIMESTAMP
    update_timestamp: int
    # KIP-360: the previous owner of the id, so that a retry gets the same response. Kafka
    # does not store it either: another coordinator fences a producer that retries.
    last_producer_id: int = field(default=NO_PRODUCER_ID, compare=False)
    last_epoch: int = field(default=NO_PRODUCER_EPOCH, compare=False)

    @property
    def identity(self) -> ProducerIdentity:
        return ProducerIdentity(self.producer_id, self.epoch)

    @property
    def is_exhausted(self) -> bool:
        """Whether the producer id has no epoch left to give out."""
        return self.epoch >= LAST_EPOCH

    @property
    def deadline_timestamp(self) -> int:
        """When a transaction that is still open has taken too long."""
        return self.start_timestamp + self.timeout_ms

    # Which producer may act

    def require(self, producer: ProducerIdentity) -> None:
        """Raise unless this is the producer that was last given the id."""
        if producer.producer_id != self.producer_id:
            raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if producer.epoch != self.epoch:
            message = f"epoch {producer.epoch} where {self.epoch} is the current one"
            raise KafkaError(ErrorCode.PRODUCER_FENCED, message)

    def require_known(self, expected: ProducerIdentity) -> None:
        """Raise unless a producer that goes on (KIP-360) is this one, or this one before."""
        is_rotated = expected.producer_id == self.last_producer_id and expected.epoch >= LAST_EPOCH
        if expected.producer_id != self.producer_id and not is_rotated:
            raise KafkaError(ErrorCode.PRODUCER_FENCED)

    # Steps

    def needs_producer_id(self, expected: ProducerIdentity | None) -> bool:
        """Whether the next epoch has to be one of another producer id."""
        return self.is_exhausted and (expected is None or expected.epoch == self.epoch)

    def rotated(self, producer_id: int, expected: ProducerIdentity | None) -> "Transaction":
        """Under another producer id, from its first epoch on."""
        return self._begun(
            ProducerIdentity(producer_id, 0), NO_PRODUCER_EPOCH if expected is None else self.epoch
        )

    def bumped(self, expected: ProducerIdentity | None) -> "Transaction":
        """In the next epoch; a producer that asks again for its last step gets the same."""
        if expected is None:
            return self._begun(
                ProducerIdentity(self.producer_id, self.epoch + 1), NO_PRODUCER_EPOCH
            )
        if expected.epoch == self.epoch:
            return self._begun(ProducerIdentity(self.producer_id, self.epoch + 1), self.epoch)
        if expected.epoch == self.last_epoch:
            return self._begun(self.identity, self.last_epoch)
        raise KafkaError(ErrorCode.PRODUCER_FENCED)

    def _begun(self, identity: ProducerIdentity, last_epoch: int) -> "Transaction":
        return replace(
            self,
            producer_id=identity.producer_id,
            epoch=identity.epoch,
            state=TransactionState.EMPTY,
            partitions=_NO_PARTITIONS,
            start_timestamp=NO_TIMESTAMP,
            last_producer_id=self.producer_id,
            last_epoch=last_epoch,
        )

    def with_timeout(self, timeout_ms: int, *, wall_ms: int) -> "Transaction":
        """As its producer wants it from now on."""
        return replace(self, timeout_ms=timeout_ms, update_timestamp=wall_ms)

    def joined_by(self, partitions: Iterable[TopicPartition], *, wall_ms: int) -> "Transaction":
        """With more partitions; the first ones begin the transaction."""
        is_open = self.state is TransactionState.ONGOING
        return replace(
            self,
            state=TransactionState.ONGOING,
            partitions={**self.partitions, **dict.fromkeys(partitions)},
            start_timestamp=self.start_timestamp if is_open else wall_ms,
            update_timestamp=wall_ms,
        )

    def prepared(self, *, is_commit: bool, wall_ms: int) -> "Transaction":
        """With the outcome decided."""
        state = TransactionState.PREPARE_COMMIT if is_commit else TransactionState.PREPARE_ABORT
        return replace(self, state=state, update_timestamp=wall_ms)

    def fenced(self, *, wall_ms: int, expected: ProducerIdentity | None = None) -> "Transaction":
        """Aborted in an epoch that no producer is given, so that a producer that writes is refused.

        The one whose transaction it is may ask for it: then it will get this epoch, unless
        that is the one after the last.
        """
        is_given = expected is not None and not self.is_exhausted
        last_epoch = self.epoch if is_given else NO_PRODUCER_EPOCH
        return replace(
            self.prepared(is_commit=False, wall_ms=wall_ms),
            epoch=self.epoch + 1,
            last_epoch=last_epoch,
        )

    def completed(self, *, wall_ms: int) -> "Transaction":
        """With markers written to every partition."""
        is_commit = self.state is TransactionState.PREPARE_COMMIT
        state = TransactionState.COMPLETE_COMMIT if is_commit else TransactionState.COMPLETE_ABORT
        return replace(self, state=state, partitions=_NO_PARTITIONS, update_timestamp=wall_ms)
