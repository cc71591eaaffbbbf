"""The transaction coordinator of a broker: every request about a transactional id comes here.

It finds the shard of the id, lets the machine decide, has the decision written, and answers
when it is committed. What is prepared it completes by itself: it waits until the decision is
safe, has the markers written, and stores that they were. Refusals are raised as `KafkaError`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from moldau.config.broker.transactions import TransactionConfig
from moldau.coordinator.decision import Decision, Reply
from moldau.coordinator.marker_delivery import MarkerDelivery, Outcome
from moldau.coordinator.shard import Shard, ShardPorts
from moldau.coordinator.shards import Shards
from moldau.coordinator.transaction.records import TransactionRecord
from moldau.coordinator.transaction.state import TransactionState
from moldau.coordinator.transaction.transaction import ProducerIdentity, Transaction
from moldau.coordinator.transaction.transactions import (
    PREPARED,
    Errors,
    Initialisation,
    Transactions,
)
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_PRODUCER_ID, TopicPartition

_log = logging.getLogger(__name__)

_TOMBSTONES_PER_BATCH = 1000
_RETRY_S = 0.1
_IDLE_S = 3600.0

_TOO_FEW_REPLICAS = (
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode.REQUEST_TIMED_OUT,
)
_NOT_LEADING = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR)
_TOO_LARGE = (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE)


class TransactionFilter(NamedTuple):
    """Which transactions a tool wants to see; an empty collection stands for all."""

    states: Collection[TransactionState] | None = None
    producer_ids: Collection[int] = ()
    longer_than_ms: int = -1

    def accepts(self, transaction: Transaction, *, wall_ms: int) -> bool:
        if self.states is not None and transaction.state not in self.states:
            return False
        if self.producer_ids and transaction.producer_id not in self.producer_ids:
            return False
        return (
            self.longer_than_ms < 0 or wall_ms - transaction.start_timestamp > self.longer_than_ms
        )


class TransactionCoordinator:
    """All transactional ids that this broker coordinates."""

    def __init__(
        self,
        shards: Shards[Transactions],
        config: TransactionConfig,
        ports: ShardPorts,
        *,
        new_producer_id: Callable[[], Awaitable[int]],
    ) -> None:
        self.shards = shards
        self._config = config
        self._ports = ports
        self._new_producer_id = new_producer_id

    async def run(self, delivery: MarkerDelivery) -> None:
        """Load, keep deadlines, complete and forget transactions, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.shards.run())
            tasks.create_task(self._keep_forgetting())
            tasks.create_task(self._keep_completing(delivery))

    # Producers

    async def initialise(self, transactional_id: str, asked: Initialisation) -> ProducerIdentity:
        """Give a producer its id and epoch; all before it are fenced."""
        producer_id: int = NO_PRODUCER_ID
        shard = self._settled(transactional_id)
        if shard.machine.needs_producer_id(transactional_id, asked.expected):
            producer_id = await self._new_producer_id()
            shard = self._settled(transactional_id)
            if not shard.machine.needs_producer_id(transactional_id, asked.expected):
                # Another producer was quicker while the id came: let one of them go on.
                raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        decision = shard.machine.initialise(
            transactional_id, asked, new_producer_id=producer_id, now=self._ports.now()
        )
        identity = await self._store(shard, decision)
        if identity is None:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        return identity

    # Transactions

    async def add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdentity,
        partitions: Sequence[TopicPartition],
    ) -> None:
        """Let partitions take part in the producer's transaction."""
        shard = self._settled(transactional_id)
        now = self._ports.now()
        await self._store(
            shard, shard.machine.add_partitions(transactional_id, producer, partitions, now=now)
        )

    async def verify(
        self,
        transactional_id: str,
        producer: ProducerIdentity,
        partitions: Iterable[TopicPartition],
    ) -> Errors:
        """Which partitions take part in the producer's open transaction."""
        shard = self._shard(transactional_id)
        last_offset = shard.machine.last_offset(transactional_id)
        if last_offset is not None:
            try:
                await shard.until_committed(last_offset + 1)
            except KafkaError as error:
                raise _producer_error(error) from error
        return shard.machine.verify(transactional_id, producer, partitions)

    async def end(
        self, transactional_id: str, producer: ProducerIdentity, *, is_commit: bool
    ) -> None:
        """Decide the outcome; the markers are written after the producer is answered."""
        shard = self._settled(transactional_id)
        now = self._ports.now()
        await self._store(
            shard, shard.machine.end(transactional_id, producer, is_commit=is_commit, now=now)
        )

    # Tools

    def describe(self, transactional_id: str) -> Transaction:
        """One transactional id."""
        found = self._shard(transactional_id).machine.find(transactional_id)
        if found is None:
            raise KafkaError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
        return found

    def matching(self, wanted: TransactionFilter) -> Iterator[tuple[str, Transaction]]:
        """The transactions that a tool wants to see; raises if there may be more of them."""
        if self.shards.is_loading:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        wall_ms = self._ports.clock.now_ms()
        for shard in self.shards:
            for transactional_id, transaction in shard.machine.items():
                if wanted.accepts(transaction, wall_ms=wall_ms):
                    yield transactional_id, transaction

    # Completing

    async def _keep_completing(self, delivery: MarkerDelivery) -> None:
        async with asyncio.TaskGroup() as tasks:
            while True:
                await self._ports.waiters.until(
                    lambda: any(shard.machine.has_prepared for shard in self.shards),
                    keys=[PREPARED],
                    timeout_s=_IDLE_S,
                )
                for shard in self.shards:
                    for transactional_id in shard.machine.take_prepared():
                        tasks.create_task(self.complete(shard, transactional_id, delivery))

    async def complete(
        self, shard: Shard[Transactions], transactional_id: str, delivery: MarkerDelivery
    ) -> None:
        """Write the markers of a prepared transaction, and store that they are written."""
        transaction = shard.machine.find(transactional_id)
        log_offset = shard.machine.last_offset(transactional_id)
        assert transaction is not None
        assert log_offset is not None
        if not await self._until_committed(shard, log_offset + 1):
            return
        outcome = Outcome(
            transaction.identity,
            transaction.state is TransactionState.PREPARE_COMMIT,
            shard.journal.leader_epoch,
        )
        is_written = await delivery.deliver(
            outcome, transaction.partitions, is_wanted=lambda: not shard.is_closed
        )
        while is_written and not shard.is_closed:
            now = self._ports.now()
            step = shard.machine.complete(transactional_id, log_offset=log_offset, now=now)
            try:
                shard.write(step)
            except KafkaError as error:
                _log.warning(
                    "Failed to complete the transaction of %s, retrying: %s",
                    transactional_id,
                    error,
                )
                await asyncio.sleep(_RETRY_S)
            else:
                return

    async def _until_committed(self, shard: Shard[Transactions], end_offset: int) -> bool:
        """Wait as long as it takes: what another broker could lose must not be acted upon."""
        while not shard.is_closed:
            try:
                await shard.until_committed(end_offset)
            except KafkaError:
                await asyncio.sleep(_RETRY_S)
            else:
                return True
        return False

    # Forgetting

    async def _keep_forgetting(self) -> None:
        interval_ms = self._config.transaction_remove_expired_transaction_cleanup_interval_ms
        while True:
            await asyncio.sleep(interval_ms / 1000)
            await self.forget_expired()

    async def forget_expired(self) -> None:
        """Forget the ids that no producer has used for long, some at a time."""
        for shard in self.shards:
            while not shard.is_closed:
                expired = shard.machine.forgettable(now=self._ports.now())
                tombstones = [
                    TransactionRecord(each, None) for each in expired[:_TOMBSTONES_PER_BATCH]
                ]
                if not tombstones:
                    break
                try:
                    shard.write(Decision(None, tombstones))
                except KafkaError as error:
                    _log.warning("Failed to append to %s: %s", shard.journal.name, error)
                    break
                await asyncio.sleep(0)

    # Parts

    def _shard(self, transactional_id: str) -> Shard[Transactions]:
        if transactional_id == "":
            raise KafkaError(ErrorCode.INVALID_REQUEST, "the transactional id is empty")
        return self.shards.of(transactional_id)

    def _settled(self, transactional_id: str) -> Shard[Transactions]:
        """The shard of an id whose last step is committed; raises while it is under way."""
        shard = self._shard(transactional_id)
        last_offset = shard.machine.last_offset(transactional_id)
        try:
            is_settled = last_offset is None or shard.journal.is_committed(last_offset + 1)
        except KafkaError as error:
            raise _producer_error(error) from error
        if not is_settled:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        return shard

    async def _store(
        self, shard: Shard[Transactions], decision: Decision[TransactionRecord, Reply]
    ) -> Reply:
        if decision.records:
            try:
                end_offset = shard.write(decision)
                self.shards.note_deadline(shard)
                await shard.until_committed(end_offset)
            except KafkaError as error:
                raise _producer_error(error) from error
        return decision.reply


def _producer_error(error: KafkaError) -> KafkaError:
    """The error that producers get when a step could not be stored."""
    code = error.code
    if code in _TOO_FEW_REPLICAS:
        return KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(error))
    if code in _NOT_LEADING:
        return KafkaError(ErrorCode.NOT_COORDINATOR, str(error))
    if code in _TOO_LARGE:
        return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error))
    return error
