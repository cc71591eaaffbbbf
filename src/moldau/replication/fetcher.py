"""What one connection to a leader is used for: the partitions followed there.

    truncating ── the logs agree ──► fetching ◄── the leader's ends ── lost
         ▲                             │  │                             ▲
         └──────── diverged ───────────┘  └────── offset out of range ──┘

A partition comes in when the controller names a leader and leaves with the next change.
Each goes its own way: one that fails waits a while, longer after each failure in a row,
and holds up no other. What comes back for a partition that has left, or has come back
in a newer epoch meanwhile, is dropped.

There may be thousands of partitions of which a few change at a time, so those are kept
apart which are to be asked for anew.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from moldau.errors import ErrorCode, KafkaError, KafkaStorageError
from moldau.log.leader_epochs import EpochEnd
from moldau.model import NO_LEADER_EPOCH, TopicPartition
from moldau.records.buffers import ReadableBuffer
from moldau.replication.fetched import checked_batches
from moldau.replication.partition import Partition
from moldau.replication.truncation import cut_for
from moldau.runtime.clock import Moment

_log = logging.getLogger(__name__)

FIRST_BACKOFF_MS = 20


class FetchPhase(Enum):
    """What must be asked next."""

    TRUNCATING = auto()
    FETCHING = auto()
    LOST = auto()


@dataclass(slots=True, eq=False)
class Following:
    """A partition under one leader in one epoch."""

    partition: Partition
    leader_epoch: int
    phase: FetchPhase
    failures: int = 0
    retry_ms: int = 0
    lag: int | None = None
    """How many committed records are missing; None until the leader has said."""

    @property
    def name(self) -> TopicPartition:
        return self.partition.topic_partition

    @property
    def last_epoch(self) -> int:
        """The newest epoch that the log has records of."""
        latest = self.partition.log.epochs.latest
        return NO_LEADER_EPOCH if latest is None else latest.epoch


class Ends(NamedTuple):
    """The first offset of the leader's log, and the one past its last."""

    start_offset: int
    end_offset: int


class LeaderAnswer(NamedTuple):
    """What a leader sent of one partition."""

    fetch_offset: int
    records: ReadableBuffer
    high_watermark: int
    log_start_offset: int
    diverging: EpochEnd | None = None


class ReplicaFetcher:
    """The partitions that are fetched together from one leader."""

    def __init__(self, *, backoff_max_ms: int, truncates_by_fetch: bool) -> None:
        """`truncates_by_fetch`: leaders say in their answers where logs part (KIP-595)."""
        self._backoff_max_ms = backoff_max_ms
        self.truncates_by_fetch = truncates_by_fetch
        self._following: dict[TopicPartition, Following] = {}
        # Those that wait, or are not being fetched yet.
        self._unsettled: dict[TopicPartition, Following] = {}
        # Those of which the next fetch has something else to say than the last one.
        self._touched: dict[TopicPartition, None] = {}

    def __len__(self) -> int:
        return len(self._following)

    def __contains__(self, name: TopicPartition) -> bool:
        return name in self._following

    # Coming and going

    def follow(self, partition: Partition, now: Moment) -> None:
        """Begin with a partition, in the epoch in which it has this leader."""
        following = Following(partition, partition.state.leader_epoch, FetchPhase.FETCHING)
        self._following[following.name] = following
        if following.last_epoch == NO_LEADER_EPOCH:
            # A log without epochs has nothing to ask for.
            high_watermark = partition.log.high_watermark
            self._attempt(
                following,
                lambda: self._truncate(following, high_watermark, now),
                now,
            )
        elif not self.truncates_by_fetch:
            following.phase = FetchPhase.TRUNCATING
        self._touch(following)

    def drop(self, name: TopicPartition) -> None:
        """Have nothing more to do with a partition."""
        if self._following.pop(name, None) is not None:
            self._unsettled.pop(name, None)
            self._touched[name] = None

    def get(self, name: TopicPartition) -> Following | None:
        """The partition as it is followed now."""
        return self._following.get(name)

    def due(self, phase: FetchPhase, now: Moment) -> list[Following]:
        """The partitions of which something is to be asked now."""
        some = self._following if phase is FetchPhase.FETCHING else self._unsettled
        return [
            one for one in some.values() if one.phase is phase and one.retry_ms <= now.monotonic_ms
        ]

    def take_touched(self, now: Moment) -> dict[TopicPartition, Following | None]:
        """The partitions to be fetched otherwise than before; None for those not to be.

        All others go on being fetched, or not, as the last request has said.
        """
        for name, one in self._unsettled.items():
            if one.phase is FetchPhase.FETCHING and one.retry_ms <= now.monotonic_ms:
                self._touched[name] = None
        touched: dict[TopicPartition, Following | None] = {}
        for name in self._touched:
            found = self._following.get(name)
            if found is not None and (
                found.phase is not FetchPhase.FETCHING or found.retry_ms > now.monotonic_ms
            ):
                found = None
            touched[name] = found
        self._touched = {}
        return touched

    def plainly_touched(self) -> list[Following] | None:
        """The same where all partitions are being fetched; None if one has to wait, or has left."""
        if self._unsettled:
            return None
        touched = []
        for name in self._touched:
            found = self._following.get(name)
            if found is None:
                return None
            touched.append(found)
        return touched

    def untouch(self) -> None:
        """The next fetch says all that there is to say."""
        self._touched.clear()

    def touch(self, name: TopicPartition) -> None:
        """Have the next fetch look at a partition again."""
        self._touched[name] = None

    @property
    def largest_lag(self) -> int:
        """How far the last of the partitions is behind."""
        return max((one.lag or 0 for one in self._following.values()), default=0)

    def next_deadline_ms(self, now: Moment) -> int | None:
        """When the first of the partitions that wait may be tried again, by the steady clock."""
        waiting = [one.retry_ms for one in self._unsettled.values()]
        return min((at_ms for at_ms in waiting if at_ms > now.monotonic_ms), default=None)

    # Answers

    def take_epoch_end(self, following: Following, end: EpochEnd, now: Moment) -> None:
        """The leader said where the newest epoch of this log ended there."""
        if self._is_current(following):
            self._attempt(following, lambda: self._cut(following, end, now), now)

    def take_ends(self, following: Following, ends: Ends, now: Moment) -> None:
        """The leader said where its log begins and ends."""
        if not self._is_current(following):
            return

        def find_way() -> None:
            log = following.partition.log
            if ends.end_offset < log.log_end_offset:
                # The leader was elected out of sync, and lost what only we have.
                self._truncate(following, ends.end_offset, now)
            elif ends.start_offset > log.log_end_offset:
                log.truncate_fully_and_start_at(ends.start_offset, now_ms=now.wall_ms)
            else:
                message = f"{log.log_end_offset} is in range after all"
                raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, message)

        following.phase = FetchPhase.FETCHING
        self._attempt(following, find_way, now)

    def take_records(self, following: Following, answer: LeaderAnswer, now: Moment) -> bool:
        """The leader sent batches; returns whether this replica changed for readers."""
        log = following.partition.log
        if not self._is_current(following) or answer.fetch_offset != log.log_end_offset:
            return False
        high_watermark, end_offset = log.high_watermark, log.log_end_offset
        start_offset = log.log_start_offset
        diverging = answer.diverging
        if diverging is not None:
            self._attempt(following, lambda: self._cut(following, diverging, now), now)
        else:
            self._attempt(following, lambda: _append(following, answer, now), now)
        bounds = log.log_start_offset, log.log_end_offset
        if diverging is not None or bounds != (start_offset, end_offset):
            self._touched[following.name] = None
        return (high_watermark, end_offset) != (log.high_watermark, log.log_end_offset)

    def take_error(self, following: Following, code: int, now: Moment) -> None:
        """The leader refused to answer for a partition."""
        if not self._is_current(following):
            return
        match code:
            case ErrorCode.OFFSET_OUT_OF_RANGE if following.phase is FetchPhase.FETCHING:
                following.phase = FetchPhase.LOST
                self._touch(following)
            case ErrorCode.FENCED_LEADER_EPOCH:
                # There is a newer epoch: the controller will send this replica's role in it.
                _log.info(
                    "Leader epoch %d of %s is fenced: waiting for LeaderAndIsr",
                    following.leader_epoch,
                    following.name,
                )
                self.drop(following.name)
            case _:
                self._delay(following, now)

    # Steps

    def _is_current(self, following: Following) -> bool:
        return self._following.get(following.name) is following

    def _cut(self, following: Following, end: EpochEnd, now: Moment) -> None:
        cut = cut_for(following.partition.log, end)
        self._truncate(following, cut.offset, now)
        if cut.is_final:
            following.phase = FetchPhase.FETCHING

    def _truncate(self, following: Following, offset: int, now: Moment) -> None:
        log = following.partition.log
        end_offset = log.log_end_offset
        if log.truncate_to(offset, now_ms=now.wall_ms):
            _log.info(
                "Truncated %s from %d to %d, where it diverges from its leader",
                following.name,
                end_offset,
                log.log_end_offset,
            )

    def _attempt(self, following: Following, step: Callable[[], None], now: Moment) -> None:
        try:
            step()
        except KafkaStorageError as error:
            _log.error("Stopped fetching %s: %s", following.name, error)
            self.drop(following.name)
        except KafkaError as error:
            _log.warning("Failed to fetch %s: %s", following.name, error)
            self._delay(following, now)
        else:
            following.failures = following.retry_ms = 0
            if following.name in self._unsettled:
                self._touch(following)

    def _delay(self, following: Following, now: Moment) -> None:
        delay_ms = FIRST_BACKOFF_MS << min(following.failures, 16)
        following.failures += 1
        following.retry_ms = now.monotonic_ms + min(delay_ms, self._backoff_max_ms)
        self._touch(following)

    def _touch(self, following: Following) -> None:
        """A partition is about to be asked for otherwise than before."""
        name = following.name
        if not self._is_current(following):
            return
        self._touched[name] = None
        if following.phase is FetchPhase.FETCHING and not following.failures:
            self._unsettled.pop(name, None)
        else:
            self._unsettled[name] = following


def _append(following: Following, answer: LeaderAnswer, now: Moment) -> None:
    """Take the batches, and then what the leader says of them."""
    log = following.partition.log
    data, batches = checked_batches(answer.records)
    if batches:
        log.append_as_follower(data, now_ms=now.wall_ms, batches=batches)
    log.raise_high_watermark(answer.high_watermark)
    following.lag = max(0, answer.high_watermark - log.log_end_offset)
    if answer.log_start_offset > log.log_start_offset:
        # What the leader deleted it had committed before, but that may arrive here later.
        log.raise_log_start(min(answer.log_start_offset, log.high_watermark))
