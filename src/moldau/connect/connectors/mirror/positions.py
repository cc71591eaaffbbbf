"""Where reading goes on in a partition of the source, and what is missing there."""

from dataclasses import dataclass

from moldau.connect.connector import Offset, SourcePartition
from moldau.connect.errors import ConnectError
from moldau.model import TopicPartition

CLUSTER, PARTITION, TOPIC, OFFSET = "cluster", "partition", "topic", "offset"
NOTHING_READ = -1


def named(alias: str, place: TopicPartition) -> SourcePartition:
    """A partition as MirrorMaker's offsets name it."""
    return {CLUSTER: alias, PARTITION: place.partition, TOPIC: place.topic}


def place_of(partition: SourcePartition) -> TopicPartition:
    """The partition that is named; ConnectError if none is."""
    topic, number = partition.get(TOPIC), partition.get(PARTITION)
    for name, found in ((CLUSTER, partition.get(CLUSTER)), (TOPIC, topic)):
        if not isinstance(found, str):
            raise ConnectError(f"Source partition {dict(partition)} has no text '{name}'")
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ConnectError(f"Source partition {dict(partition)} has no number '{PARTITION}'")
    return TopicPartition(str(topic), number)


def last_read(offset: Offset | None) -> int | None:
    """The offset of the last record that is stored here; None if there was never any."""
    if offset is None:
        return None
    found = offset.get(OFFSET)
    if not isinstance(found, int) or isinstance(found, bool) or found < NOTHING_READ:
        raise ConnectError(f"Source offset {dict(offset)} has no number '{OFFSET}'")
    return found


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where reading begins."""

    offset: int
    skipped: int = 0
    """How many offsets are gone that were not read."""
    problem: str | None = None
    """What somebody should know."""


def beginning(place: TopicPartition, last: int | None, start: int, end: int) -> Beginning:
    """Where to go on after the last record, in a log that has the offsets [start, end)."""
    if last is None:
        return Beginning(start)
    wanted = last + 1
    if wanted < start:
        skipped = start - wanted
        return Beginning(
            start,
            skipped,
            f"{place}: {skipped} offsets from {wanted} on were deleted in the source before they "
            f"were copied; going on at {start}",
        )
    if wanted > end:
        return Beginning(
            start,
            0,
            f"{place}: the log in the source ends at {end}, before the offset {wanted} where "
            f"copying was to go on, so the topic was made anew; copying it from {start} on",
        )
    return Beginning(wanted)
