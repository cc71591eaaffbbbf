"""Finding offsets in a partition by what a client may ask for: an end, or a time."""

from enum import IntEnum
from functools import partial
from typing import NamedTuple

from moldau.errors import ErrorCode, KafkaError
from moldau.log.log import Log
from moldau.log.time_index import TimestampOffset
from moldau.log.timestamps import Candidate
from moldau.model import NO_LEADER_EPOCH, NO_TIMESTAMP
from moldau.records.opening import Opening
from moldau.records.refusal import TooLargeToOpen
from moldau.replication.partition import Partition
from moldau.runtime.threads import in_thread

NO_OFFSET = -1


class Requested(IntEnum):
    """What takes the place of a timestamp in a request."""

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5


class Lookup(NamedTuple):
    """The sender: clients see what is committed, other brokers all there is."""

    is_client: bool = True
    is_read_committed: bool = False

    def end_offset(self, partition: Partition) -> int:
        """Where the log ends for the sender."""
        log = partition.log
        if not self.is_client:
            return log.log_end_offset
        return log.last_stable_offset if self.is_read_committed else log.high_watermark


class Found(NamedTuple):
    """A place in the log."""

    offset: int = NO_OFFSET
    timestamp: int = NO_TIMESTAMP
    leader_epoch: int = NO_LEADER_EPOCH


async def look_up(partition: Partition, timestamp: int, look: Lookup, opening: Opening) -> Found:
    """The offset for a time, or for one of the words that stand in its place.

    Records are opened here as far as `opening` goes, and otherwise in a thread.
    Raises OFFSET_NOT_AVAILABLE to a client whose answer depends on an end that a new
    leader cannot know yet.
    """
    log = partition.log
    match timestamp:
        case Requested.LATEST:
            if look.is_client:
                _require_settled(partition)
            end_offset = look.end_offset(partition)
            return Found(end_offset, leader_epoch=partition.state.leader_epoch)
        case Requested.EARLIEST | Requested.EARLIEST_LOCAL:
            return _at(partition, log.log_start_offset, NO_TIMESTAMP)
        case Requested.LATEST_TIERED:
            return Found()  # nothing is ever moved to other storage
        case Requested.MAX_TIMESTAMP:
            found = await _first_in(log.batch_of_largest_timestamp(), opening)
        case _:
            found = await _first_at_or_after(log, timestamp, opening)
    if found is not None and found.offset < look.end_offset(partition):
        return _at(partition, found.offset, found.timestamp)
    if look.is_client:
        _require_settled(partition)
    return Found()


async def _first_at_or_after(log: Log, timestamp: int, opening: Opening) -> TimestampOffset | None:
    """Looks at the log anew for each batch: it may have changed meanwhile."""
    batch = log.batch_for_timestamp(timestamp)
    while batch is not None:
        found = await _first_in(batch, opening)
        if found is not None:
            return found
        # The record was before the start of the log.
        batch = log.batch_for_timestamp(timestamp, start_offset=batch.header.next_offset)
    return None


async def _first_in(batch: Candidate | None, opening: Opening) -> TimestampOffset | None:
    if batch is None:
        return None
    try:
        return batch.first(opening)
    except TooLargeToOpen:
        return await in_thread(partial(batch.first, Opening(opening.scratch)))


def segment_starts(partition: Partition, timestamp: int, look: Lookup, *, now_ms: int) -> list[int]:
    """Where segments begin that are at least as old, the newest first, as version 0 has it."""
    log = partition.log
    starts = [
        (max(segment.base_offset, log.log_start_offset), segment.created_ms)
        for segment in log.segments
    ]
    if log.segments.active.size > 0:
        starts.append((log.log_end_offset, now_ms))
    match timestamp:
        case Requested.LATEST:
            count = len(starts)
        case Requested.EARLIEST:
            count = 1
        case _:
            count = len(starts)
            while count and starts[count - 1][1] > timestamp:
                count -= 1
    newest_first = sorted((offset for offset, _ in starts[:count]), reverse=True)
    end_offset = look.end_offset(partition)
    if newest_first and newest_first[0] > end_offset:
        return [end_offset, *(offset for offset in newest_first if offset < end_offset)]
    return newest_first


def _at(partition: Partition, offset: int, timestamp: int) -> Found:
    epoch = partition.log.epochs.epoch_at(offset)
    return Found(offset, timestamp, NO_LEADER_EPOCH if epoch is None else epoch)


def _require_settled(partition: Partition) -> None:
    """A new leader does not know the end until its followers have caught up with its start."""
    start = partition.epoch_start_offset
    if start is not None and partition.log.high_watermark < start:
        raise KafkaError(ErrorCode.OFFSET_NOT_AVAILABLE)
