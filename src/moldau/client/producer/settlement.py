"""What becomes of a batch that was sent: it is delivered, tried again, split, or lost."""

import logging
from collections.abc import Callable

from moldau.client.connection.cluster import Cluster
from moldau.client.producer.accumulator import Accumulator
from moldau.client.producer.batches import Batch
from moldau.client.producer.transactions import TransactionClient
from moldau.client.settings import ProducerSettings
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.produce import PartitionProduceResponse
from moldau.runtime.waiters import Waiters

_log = logging.getLogger(__name__)

SETTLED = "settled"
DELIVERED = (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER)
_SEQUENCE_ERRORS = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID)


class Settlement:
    """Decides by what the broker answered, and notifies the callers that wait for a batch."""

    def __init__(
        self,
        cluster: Cluster,
        accumulator: Accumulator,
        waiters: Waiters,
        transactions: TransactionClient | None,
        *,
        wake: Callable[[], None],
    ) -> None:
        assert isinstance(cluster.settings, ProducerSettings)
        self._settings: ProducerSettings = cluster.settings
        self._cluster = cluster
        self._accumulator = accumulator
        self._waiters = waiters
        self._transactions = transactions
        self._wake = wake

    def answer(self, batch: Batch, answer: PartitionProduceResponse) -> None:
        """The broker has said what it did with the batch."""
        code = ErrorCode(answer.error_code)
        if code in DELIVERED:
            self.deliver(batch, answer.base_offset, answer.log_append_time_ms)
        else:
            reason = answer.error_message or code.name
            self.fail(batch, KafkaError(code, f"{batch.partition}: {reason}"))

    def deliver(self, batch: Batch, base_offset: int, append_time_ms: int) -> None:
        """The batch is stored."""
        if self._accumulator.store(batch):
            self._wake()  # what it held back may have to wait for its time, or for its backoff
        batch.deliver(base_offset, append_time_ms)
        self.wake_waiting()

    def wake_waiting(self) -> None:
        """Wake the callers that wait for batches to be settled."""
        self._waiters.wake(SETTLED)

    def fail(self, batch: Batch, error: KafkaError) -> None:
        """Something went wrong: try again if that is worth it, and if there is time."""
        if error.is_stale_metadata:
            self._cluster.metadata.doubt(batch.partition)
        if error.code is ErrorCode.MESSAGE_TOO_LARGE and batch.records.count > 1:
            _log.info(
                "Batch of %s with %d bytes is too large: splitting it",
                batch.partition,
                batch.records.size,
            )
            self._accumulator.split(batch)
            self._wake()
            return
        now_ms = self._now_ms()
        is_worth_it = error.is_retriable or (
            error.code in _SEQUENCE_ERRORS and self._may_renumber(batch)
        )
        if is_worth_it and batch.attempts <= self._settings.retries:
            batch.last_error = error
            if now_ms < batch.deadline_ms:
                ready_ms = now_ms + self._settings.retry_backoff_ms
                self._accumulator.retry(batch, error, ready_ms=ready_ms)
                self._wake()
                return
            error = self._too_late(batch)
        if self._accumulator.leave(batch):
            self._wake()
        self.lose(batch, error)

    def expire(self) -> None:
        """Give up what has waited too long."""
        for batch in self._accumulator.expire(now_ms=self._now_ms()):
            self.lose(batch, self._too_late(batch))

    def lose_waiting(self, error: KafkaError) -> None:
        """Nothing can be sent at all."""
        for batch in self._accumulator.expire(now_ms=2**63):
            self.lose(batch, error)

    def lose(self, batch: Batch, error: KafkaError) -> None:
        """The batch, which is not in the accumulator any more, was not stored."""
        _log.warning("Failed to send %d records: %s", batch.records.count, error)
        self._accumulator.sent.errors += batch.records.count
        if self._transactions is not None:
            self._transactions.transaction.fail_batch(error)
            self._accumulator.close()
        batch.fail(error)
        self.wake_waiting()

    def _may_renumber(self, batch: Batch) -> bool:
        """Whether a batch with a wrong number may come again: in its turn, or with another.

        Within a transaction numbers cannot begin anew: it must be aborted.
        """
        if self._transactions is not None and self._accumulator.is_oldest(batch):
            return False
        return self._settings.enable_idempotence

    def _too_late(self, batch: Batch) -> KafkaError:
        why = f": {batch.last_error}" if batch.last_error is not None else ""
        reason = f"{batch.partition}: not delivered in {self._settings.delivery_timeout_ms} ms{why}"
        return KafkaError(ErrorCode.REQUEST_TIMED_OUT, reason)

    def _now_ms(self) -> int:
        return self._cluster.clock.monotonic_ms()
