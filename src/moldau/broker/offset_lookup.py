"""Finding offsets in a partition by what a client may ask for: an end, or a time."""

from enum import IntEnum
from typing import NamedTuple

from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_LEADER_EPOCH, NO_TIMESTAMP
from moldau.replication.partition import Partition

NO_OFFSET = -1


class Requested(IntEnum):
    """What takes the place of a timestamp in a request."""

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5


class Lookup(NamedTuple):
    """Who asks: clients see what is committed, other brokers all there is."""

    is_client: bool = True
    is_read_committed: bool = False

    def end_offset(self, partition: Partition) -> int:
        """Where the log ends for whoever asks."""
        log = partition.log
        if not self.is_client:
            return log.log_end_offset
        return log.last_stable_offset if self.is_read_committed else log.high_watermark


class Found(NamedTuple):
    """A place in the log."""

    offset: int = NO_OFFSET
    timestamp: int = NO_TIMESTAMP
    leader_epoch: int = NO_LEADER_EPOCH


def look_up(partition: Partition, timestamp: int, look: Lookup) -> Found:
    """The offset for a time, or for one of the words that stand in its place.

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
            found = log.offset_of_largest_timestamp()
        case _:
            found = log.offset_for_timestamp(timestamp)
    if found is not None and found.offset < look.end_offset(partition):
        return _at(partition, found.offset, found.timestamp)
    if look.is_client:
        _require_settled(partition)
    return Found()


def segment_starts(partition: Partition, timestamp: int, look: Lookup, *, now_ms: int) -> list[int]:
    """Where segments begin that are at least as old, the newest first, as version 0 tells it."""
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
