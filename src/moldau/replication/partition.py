"""One replica of a partition: leader or follower, the in-sync set, what is committed.

    offline ── lead() ──► leader ◄──► follower ◄── follow() ── offline

The controller moves it, by LeaderAndIsr. A higher leader epoch always wins; the same or
a lower one changes nothing. The leader alone appends, follows the other replicas' fetches
and moves the high watermark; the in-sync set it proposes is committed by a conditional
write elsewhere (`propose_isr`, `finish_isr_change`), and while that write is under way the
high watermark counts every replica that may be in sync, before or after it.

How late a follower is, is measured by a clock that never goes back; `append` alone gets the
time of day, for the log.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from moldau.config.topic import TopicConfig
from moldau.errors import ErrorCode, KafkaError
from moldau.log.log import Log
from moldau.log.producer_state import Origin
from moldau.log.verification import Guard
from moldau.model import TopicPartition
from moldau.records.batch import BatchHeader
from moldau.records.buffers import WritableBuffer
from moldau.records.rules import ProduceRules

if TYPE_CHECKING:
    from moldau.log.appending import Appended

NO_EPOCH = -1
NO_LEADER = -1
ALL_IN_SYNC = -1
NEVER_MS = -(2**62)


class PartitionState(NamedTuple):
    """What the controller decided."""

    controller_epoch: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    partition_epoch: int
    replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class IsrChange:
    """An in-sync set on its way to the tree, with the state that it is to follow."""

    isr: tuple[int, ...]
    state: PartitionState


@dataclass(slots=True)
class Follower:
    """How far another replica has come, as its fetches show."""

    log_end_offset: int = -1
    log_start_offset: int = -1
    caught_up_ms: int = NEVER_MS
    fetched_ms: int = NEVER_MS
    leader_end_at_fetch: int = -1
    high_watermark: int = -1
    """What was last sent to it."""

    def note_fetch(self, offset: int, log_start_offset: int, leader_end: int, now_ms: int) -> None:
        """A follower is caught up at the time when it asked for what was then the end."""
        if offset >= leader_end:
            self.caught_up_ms = max(self.caught_up_ms, now_ms)
        elif offset >= self.leader_end_at_fetch:
            self.caught_up_ms = max(self.caught_up_ms, self.fetched_ms)
        self.log_end_offset = offset
        self.log_start_offset = log_start_offset
        self.leader_end_at_fetch = leader_end
        self.fetched_ms = now_ms

    def note_idle(self, now_ms: int) -> None:
        """It asked for nothing else, and nothing else was there to be asked for.

        Nothing is known of one that has not fetched from this leader, whatever it asked before.
        """
        if 0 <= self.leader_end_at_fetch <= self.log_end_offset:
            self.caught_up_ms = max(self.caught_up_ms, now_ms)

    def note_read(self, leader_end: int, now_ms: int) -> None:
        """It is about to be sent what there is now."""
        if self.log_end_offset < leader_end:
            self.leader_end_at_fetch = leader_end
            self.fetched_ms = now_ms

    def is_caught_up(self, leader_end: int, *, now_ms: int, lag_max_ms: int) -> bool:
        return self.log_end_offset == leader_end or now_ms - self.caught_up_ms <= lag_max_ms


class Partition:
    """The replica of one partition on this broker."""

    __slots__ = (
        "_isr_change",
        "_lag_max_ms",
        "_local_id",
        "_looked_ms",
        "_produce_rules",
        "_ruled_by",
        "epoch_start_offset",
        "followers",
        "log",
        "state",
        "topic_partition",
    )

    def __init__(
        self, topic_partition: TopicPartition, log: Log, *, local_id: int, lag_max_ms: int
    ) -> None:
        self.topic_partition = topic_partition
        self.log = log
        self.state = PartitionState(NO_EPOCH, NO_LEADER, NO_EPOCH, (), 0, ())
        self.followers: dict[int, Follower] = {}
        self.epoch_start_offset: int | None = None
        self._local_id = local_id
        self._lag_max_ms = lag_max_ms
        # Fetches and checks come far more often than the lag allowed, so to an append it is
        # as late as it was then.
        self._looked_ms = NEVER_MS
        self._isr_change: IsrChange | None = None
        self._ruled_by: TopicConfig | None = None
        self._produce_rules = ProduceRules()

    @property
    def produce_rules(self) -> ProduceRules:
        """What the topic's settings, as they are now, ask of produced records."""
        if self._ruled_by is not self.log.config:
            self._ruled_by = self.log.config
            self._produce_rules = ProduceRules.for_topic(self.log.config)
        return self._produce_rules

    # Roles

    @property
    def is_leader(self) -> bool:
        return self.state.leader == self._local_id

    @property
    def min_insync_replicas(self) -> int:
        """As configured, but never more than there are replicas."""
        return min(self.log.config.min_insync_replicas, len(self.state.replicas))

    def lead(self, state: PartitionState, *, now_ms: int) -> bool:
        """Become, or stay, the leader; returns whether this broker did not lead before."""
        self._looked_ms = now_ms
        was_leader = self.is_leader
        is_new_epoch = state.leader_epoch > self.state.leader_epoch
        self._adopt(state)
        leader_end = self.log.log_end_offset
        if is_new_epoch:
            # Known even before the first append, so that followers can truncate to it.
            self.log.begin_epoch(state.leader_epoch)
            self.epoch_start_offset = leader_end
        followers = [replica for replica in state.replicas if replica != self._local_id]
        # A follower that the controller has taken out of the set must fetch again to be let in: how
        # far it had come says nothing about whether it is still there.
        self.followers = {
            replica: (self.followers.get(replica) if replica in state.isr else None)
            or Follower(caught_up_ms=now_ms if replica in state.isr else NEVER_MS)
            for replica in followers
        }
        self.advance_high_watermark()
        return not was_leader

    def follow(self, state: PartitionState) -> bool:
        """Become, or stay, a follower; returns whether the leader or its epoch is new."""
        is_new = (state.leader, state.leader_epoch) != (self.state.leader, self.state.leader_epoch)
        self._adopt(state)
        self.followers = {}
        self.epoch_start_offset = None
        return is_new

    def leave(self) -> None:
        """Give up the replica: requests that still wait for it get that it does not lead."""
        self._adopt(self.state._replace(leader=NO_LEADER))
        self.followers = {}
        self.epoch_start_offset = None

    def _adopt(self, state: PartitionState) -> None:
        self.state = state
        self._isr_change = None

    def require_leader(self, current_leader_epoch: int = NO_EPOCH) -> None:
        """Raise unless this broker leads, in the epoch that the client knows."""
        self.require_epoch(current_leader_epoch)
        if not self.is_leader:
            message = f"this broker does not lead {self.topic_partition}"
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, message)

    def require_epoch(self, current_leader_epoch: int) -> None:
        """Raise if the client knows another leader epoch (KIP-320)."""
        if current_leader_epoch == NO_EPOCH:
            return
        if current_leader_epoch < self.state.leader_epoch:
            raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
        if current_leader_epoch > self.state.leader_epoch:
            raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH)

    # Appending

    def append(
        self,
        data: WritableBuffer,
        *,
        acks: int,
        now_ms: int,
        origin: Origin = Origin.CLIENT,
        guard: Guard | None = None,
    ) -> "Appended":
        """Append as leader; with acks=-1 only if enough replicas are in sync."""
        self._require_enough(acks)
        appended = self.log.append_as_leader(
            data,
            leader_epoch=self.state.leader_epoch,
            now_ms=now_ms,
            origin=origin,
            guard=guard,
        )
        self.advance_high_watermark()
        return appended

    def append_batch(
        self,
        data: WritableBuffer,
        header: BatchHeader,
        *,
        acks: int,
        now_ms: int,
        guard: Guard | None = None,
    ) -> "Appended":
        """Append one validated batch of a client, whose header is at hand."""
        self._require_enough(acks)
        appended = self.log.append_batch(
            data, header, leader_epoch=self.state.leader_epoch, now_ms=now_ms, guard=guard
        )
        self.advance_high_watermark()
        return appended

    def _require_enough(self, acks: int) -> None:
        """Raise unless this broker leads and, with acks=-1, enough replicas are in sync."""
        state = self.state
        if state.leader != self._local_id:
            self.require_leader()
        if acks == ALL_IN_SYNC and not self._has_enough_in_sync():
            message = (
                f"{len(state.isr)} replicas of {self.topic_partition} are in sync, "
                f"{self.min_insync_replicas} are needed"
            )
            raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS, message)

    def _has_enough_in_sync(self) -> bool:
        """Whether as many replicas are in sync as the topic asks for: all of them are enough."""
        in_sync = len(self.state.isr)
        return in_sync >= len(self.state.replicas) or in_sync >= self.min_insync_replicas

    def is_committed(self, end_offset: int) -> bool:
        """Whether everything before `end_offset` is on all in-sync replicas.

        Raises if it never will be here, or if it is, but on too few.
        """
        if self.state.leader != self._local_id:
            self.require_leader()
        if self.log.high_watermark < end_offset:
            return False
        if not self._has_enough_in_sync():
            raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
        return True

    # Followers and the high watermark

    def note_fetch(self, replica: int, offset: int, *, log_start_offset: int, now_ms: int) -> bool:
        """A follower fetches from `offset`; returns whether a request may have waited for that."""
        follower = self.followers.get(replica)
        if follower is None:
            message = f"broker {replica} is not a replica of {self.topic_partition}"
            raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH, message)
        self._looked_ms = now_ms
        has_deleted = log_start_offset > max(0, follower.log_start_offset)
        follower.note_fetch(offset, log_start_offset, self.log.log_end_offset, now_ms)
        return self.advance_high_watermark() or has_deleted

    def advance_high_watermark(self) -> bool:
        """Move it to what all counted replicas have; returns whether it moved."""
        if not self.followers:
            return self.log.raise_high_watermark(self.log.settled_end_offset())
        if not self._has_enough_in_sync():
            return False  # KAFKA-15583: what too few have is not committed
        leader_end, committed = self.log.log_end_offset, self.log.settled_end_offset()
        counted = self._maximal_isr()
        for replica, follower in self.followers.items():
            # One that is about to join counts already, or joining would move it back.
            if replica in counted or follower.is_caught_up(
                leader_end, now_ms=self._looked_ms, lag_max_ms=self._lag_max_ms
            ):
                committed = min(committed, follower.log_end_offset)
        return committed >= 0 and self.log.raise_high_watermark(committed)

    def lowest_log_start(self, live: Iterable[int]) -> int:
        """The smallest log start among the live replicas, as DeleteRecords answers it."""
        starts = [
            follower.log_start_offset
            for replica, follower in self.followers.items()
            if replica in live
        ]
        return min([self.log.log_start_offset, *starts])

    # The in-sync set

    def may_join(self, replica: int) -> bool:
        """Whether a follower that has just fetched may be added to the in-sync set."""
        return (
            replica not in self.state.isr
            and self._isr_change is None
            and self._has_enough_to_join(self.followers[replica])
        )

    def propose_isr(self, *, now_ms: int, may_shrink: bool = True) -> IsrChange | None:
        """The in-sync set as it should be, if that is news and no change is under way.

        A follower joins with less than it must have to stay. A caller that looks right after
        each change must not let the set shrink, or it would change all the time.
        """
        self._looked_ms = now_ms
        if not self.is_leader or self._isr_change is not None:
            return None
        leader_end = self.log.log_end_offset
        in_sync = tuple(
            replica
            for replica in self.state.replicas
            if replica == self._local_id
            or (replica in self.state.isr and not may_shrink)
            or self._is_in_sync(replica, leader_end, now_ms)
        )
        if set(in_sync) == set(self.state.isr):
            return None
        self._isr_change = IsrChange(in_sync, self.state)
        return self._isr_change

    def is_changing(self, change: IsrChange) -> bool:
        """Whether a change is still wanted: the controller may have spoken meanwhile."""
        return self._isr_change is change

    def finish_isr_change(self, change: IsrChange, partition_epoch: int | None) -> bool:
        """The change was written as `partition_epoch`, or not at all (None).

        Says whether the high watermark moved.
        """
        if not self.is_changing(change):
            return False
        if partition_epoch is not None:
            self.state = self.state._replace(isr=change.isr, partition_epoch=partition_epoch)
        self._isr_change = None
        return self.advance_high_watermark()

    def _is_in_sync(self, replica: int, leader_end: int, now_ms: int) -> bool:
        follower = self.followers[replica]
        if replica in self.state.isr:
            return follower.is_caught_up(leader_end, now_ms=now_ms, lag_max_ms=self._lag_max_ms)
        return self._has_enough_to_join(follower)

    def _has_enough_to_join(self, follower: Follower) -> bool:
        """All that is committed, and all that the leader had when it was elected."""
        assert self.epoch_start_offset is not None
        needed = max(self.log.high_watermark, self.epoch_start_offset)
        return follower.log_end_offset >= needed

    def _maximal_isr(self) -> tuple[int, ...]:
        change = self._isr_change
        return self.state.isr if change is None else self.state.isr + change.isr
