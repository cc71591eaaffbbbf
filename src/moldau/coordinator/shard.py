"""One partition of an internal topic, under this broker's leadership, as a machine's memory.

    decide -> append -> apply -> answer when committed

The machine decides: which records to write, and what to reply. The records are appended, and
only then applied to the machine, in the order of the log; so its state is always what a replay
of the log would give. A reply goes out when everything appended before it is committed: what
another broker could lose must not be sent. When this broker begins to lead, the machine is
rebuilt by `load`; when it stops, the shard is closed, and all waiting requests are answered.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from moldau.coordinator.decision import Decision, PendingReply, RecordSource
from moldau.errors import ErrorCode, KafkaError
from moldau.log.verification import Guard
from moldau.records.batch import NO_PRODUCER, TRANSACTIONAL
from moldau.records.buffers import ReadableBuffer, WritableBuffer
from moldau.records.pairs import Pair, write_pairs
from moldau.runtime.clock import Clock, Moment
from moldau.runtime.waiters import Waiters

Stored = TypeVar("Stored")
Reply = TypeVar("Reply")
Key = TypeVar("Key")

PARKED_MAX_S = 2**31 / 1000
"""Longer than any timeout that a client can ask for: the machine answers before."""


class ShardMachine(Protocol[Stored, Key]):
    """What a shard keeps. The records it is rebuilt from are the records it decides on."""

    def encode(self, records: Sequence[Stored]) -> Iterable[Pair]:
        """Keys and values of records."""

    def apply(self, records: Sequence[Stored], source: RecordSource) -> None:
        """Records were appended: become what they say. The source is that of the first."""

    def replay(self, key: bytes, value: bytes | None, source: RecordSource) -> None:
        """The same for a record that is read back."""

    def end_transaction(self, producer_id: int, *, is_commit: bool) -> None:
        """A producer's records count from now on, or never."""

    def begin(self, *, now: Moment) -> None:
        """Everything was read back."""

    def unload(self) -> None:
        """Another broker has taken over: answer all parked requests."""

    def next_deadline_ms(self) -> int | None:
        """When the next key will be due, on the monotonic clock."""

    def take_due(self, *, now: Moment) -> list[Key]:
        """The keys that are due."""

    def expire(self, key: Key, *, now: Moment) -> Decision[Stored, None]:
        """Act on a key that is due."""

    def take_answered(self) -> Sequence[Hashable]:
        """The parked replies that have become known since the last call."""


class Journal(Protocol):
    """The partition's log, as its leader sees it."""

    @property
    def name(self) -> Hashable:
        """What waiters are woken by when more is committed, or the leader has changed."""

    @property
    def start_offset(self) -> int:
        """The first offset there is."""

    @property
    def end_offset(self) -> int:
        """The offset that the next record gets."""

    @property
    def leader_epoch(self) -> int:
        """In which epoch this broker leads."""

    def append(self, batch: WritableBuffer, guard: Guard | None) -> int:
        """Append, and return the first record's offset. Raises if too few are in sync."""

    def is_committed(self, end_offset: int) -> bool:
        """Whether all before `end_offset` is safe. Raises if that can never be known here."""

    async def read(self, offset: int, *, max_bytes: int) -> ReadableBuffer:
        """Batches from the one with `offset` on; at least one, wholly."""


class ShardPorts(NamedTuple):
    """What every shard of a broker uses."""

    clock: Clock
    waiters: Waiters
    commit_timeout_s: float
    compression: int = 0

    def now(self) -> Moment:
        """This moment."""
        return Moment.of(self.clock)


M = TypeVar("M", bound=ShardMachine)  # type: ignore[type-arg]


class Shard(Generic[M]):
    """A machine with its journal."""

    def __init__(self, machine: M, journal: Journal, ports: ShardPorts) -> None:
        self.machine = machine
        self.journal = journal
        self._ports = ports
        self.is_loaded = False
        self.is_closed = False
        self.has_failed = False
        """Loading stopped at something that could not be read."""

    def require_loaded(self) -> None:
        """Raise while the machine is not what the log says."""
        if self.is_closed:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        if not self.is_loaded:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)

    def write(self, decision: Decision[Stored, Reply], now: Moment | None = None) -> int:
        """Append and apply what was decided; its reply may go out when all before the
        returned offset is committed. Raises, and changes nothing, if it cannot be appended.
        """
        try:
            if decision.records:
                self._append(decision, now or self._ports.now())
        finally:
            self.wake_answered()
        return self.journal.end_offset

    def _append(self, decision: Decision[Stored, Reply], now: Moment) -> None:
        machine, producer = self.machine, decision.producer
        is_transactional = producer != NO_PRODUCER
        batch = write_pairs(
            machine.encode(decision.records),
            timestamp_ms=now.wall_ms,
            attributes=self._ports.compression | (TRANSACTIONAL if is_transactional else 0),
            producer=producer,
        )
        first_offset = self.journal.append(batch, decision.guard)
        machine.apply(decision.records, RecordSource(first_offset, producer.producer_id, now))
        self._ports.waiters.wake(self.journal.name)  # followers wait for it

    def is_committed(self, end_offset: int) -> bool:
        """Whether everything before `end_offset` is safe; raises if it never will be here."""
        if self.is_closed:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        return self.journal.is_committed(end_offset)

    async def until_committed(self, end_offset: int) -> None:
        """Return when everything before `end_offset` is safe; raises if that fails."""
        if self.is_committed(end_offset):
            return
        is_in_time = await self._ports.waiters.until_satisfied(
            lambda: self.is_closed or self.journal.is_committed(end_offset),
            keys=[self.journal.name],
            timeout_s=self._ports.commit_timeout_s,
            operation="Produce",
        )
        if self.is_closed:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        if not is_in_time:
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)

    async def until_answered(self, parked: PendingReply[Reply]) -> Reply:
        """The reply, as soon as the machine knows it."""
        await self._ports.waiters.until(
            lambda: parked.reply is not None,
            keys=[parked],
            timeout_s=PARKED_MAX_S,
            operation="Rebalance",
        )
        if parked.reply is None:
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)
        return parked.reply

    def wake_answered(self) -> None:
        """Wake the requests whose replies have become known."""
        for parked in self.machine.take_answered():
            self._ports.waiters.wake(parked)

    def expire(self, *, now: Moment) -> Iterable[KafkaError]:
        """Act on the deadlines that have come; yields what could not be written."""
        for key in self.machine.take_due(now=now):
            try:
                self.write(self.machine.expire(key, now=now))
            except KafkaError as error:
                yield error

    def begin(self) -> None:
        """The machine has been rebuilt: serve."""
        self.is_loaded = True
        self.machine.begin(now=self._ports.now())
        self.wake_answered()

    def close(self) -> None:
        """This broker does not lead the partition any more."""
        self.is_closed = True
        self.machine.unload()
        self.wake_answered()
        self._ports.waiters.wake(self.journal.name)
