"""How far the active segment can be filled before it may have to be rolled."""

from typing import NamedTuple

from moldau.config.topic import TopicConfig
from moldau.log.index import RELATIVE_OFFSET_MAX
from moldau.log.segment import Segment


class Room(NamedTuple):
    """Bounds within which a batch surely fits a segment, under the settings they came from."""

    base_offset: int
    config: TopicConfig | None
    size_max: int
    offset_max: int
    timestamp_max: int


NO_ROOM = Room(-1, None, -1, -1, -1)


def measure(active: Segment, config: TopicConfig, jitter_ms: int) -> Room:
    """The room of a segment; none while it is empty, or if it rolls by the wall clock.

    Batches get at most one index entry for every `index_interval_bytes`, so that many bytes
    go by before the indexes can be full.
    """
    first_timestamp = active.first_timestamp
    if first_timestamp is None or first_timestamp < 0:
        return NO_ROOM
    indexed_bytes = active.indexes.entries_left(config.segment_index_bytes) * (
        config.index_interval_bytes
    )
    return Room(
        active.base_offset,
        config,
        min(config.segment_bytes, active.size + indexed_bytes),
        active.base_offset + RELATIVE_OFFSET_MAX,
        first_timestamp + config.roll_ms - jitter_ms,
    )
