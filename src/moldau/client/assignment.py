"""The partitions that a consumer reads, how far it is, and what was fetched ahead.

A partition has no position until its committed offset, or an end of its log, is looked up.
What was fetched for a position that is no longer wanted is dropped: `version` tells.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.records.kernel import Row

CHUNKS_MAX = 2
"""So many answers of brokers are kept per partition: one is read while the next arrives."""


@dataclass(slots=True)
class Chunk:
    """Fetched records of one partition; reading them leads to `next_offset`."""

    rows: "deque[Row]"
    next_offset: int
    size_bytes: int


@dataclass(slots=True, eq=False)
class Assigned:
    """One partition."""

    partition: TopicPartition
    position: int | None = None
    """The offset after the last record that was handed out."""
    consumed: int | None = None
    """The offset after the last record that the user is done with: what is committed."""
    fetch_offset: int = 0
    is_paused: bool = False
    wants_reset: bool = False
    """Whether the committed offset is of no use, so that the reset policy decides."""
    high_watermark: int | None = None
    version: int = 0
    chunks: deque[Chunk] = field(default_factory=deque)

    def seek(self, offset: int) -> None:
        """Go on from this offset."""
        self.position = self.consumed = self.fetch_offset = offset
        self.wants_reset = False
        self.version += 1
        self.chunks.clear()

    def lose_position(self) -> None:
        """The broker does not have the offset: the reset policy decides."""
        self.position = self.consumed = None
        self.wants_reset = True
        self.version += 1
        self.chunks.clear()

    def add(self, chunk: Chunk) -> None:
        """Keep what was fetched at `fetch_offset`."""
        self.fetch_offset = chunk.next_offset
        self.chunks.append(chunk)

    def take(self, count_max: int) -> "list[Row]":
        """Hand out records in order."""
        taken: list[Row] = []
        while self.chunks and len(taken) < count_max:
            chunk = self.chunks[0]
            while chunk.rows and len(taken) < count_max:
                taken.append(chunk.rows.popleft())
            if taken:
                self.position = taken[-1].offset + 1
            if not chunk.rows:
                # Offsets without a record, as after compaction, are passed as well.
                self.position = chunk.next_offset
                self.chunks.popleft()
        return taken


class Assignment:
    """All partitions of a consumer."""

    def __init__(self) -> None:
        self._assigned: dict[TopicPartition, Assigned] = {}

    def __iter__(self) -> Iterator[Assigned]:
        return iter(self._assigned.values())

    def __getitem__(self, partition: TopicPartition) -> Assigned:
        return self._assigned[partition]

    def __contains__(self, partition: TopicPartition) -> bool:
        return partition in self._assigned

    @property
    def partitions(self) -> list[TopicPartition]:
        return list(self._assigned)

    @property
    def buffered_bytes(self) -> int:
        """How much was fetched and not yet handed out."""
        return sum(chunk.size_bytes for each in self for chunk in each.chunks)

    def replace(self, partitions: Iterable[TopicPartition]) -> None:
        """Read these; one that was read before goes on where it is."""
        before = self._assigned
        self._assigned = {each: before.get(each) or Assigned(each) for each in partitions}

    def get(self, partition: TopicPartition, version: int) -> Assigned | None:
        """The partition, if it is still read as it was at this version."""
        assigned = self._assigned.get(partition)
        return assigned if assigned is not None and assigned.version == version else None

    def without_position(self) -> list[Assigned]:
        """Those whose offset must be looked up."""
        return [each for each in self if each.position is None]

    def fetchable(self) -> list[Assigned]:
        """Those of which more is wanted."""
        return [
            each
            for each in self
            if each.position is not None and not each.is_paused and len(each.chunks) < CHUNKS_MAX
        ]

    def take(self, count_max: int) -> "list[tuple[TopicPartition, list[Row]]]":
        """Hand out records, from a partition at a time and from each in its turn."""
        taken: list[tuple[TopicPartition, list[Row]]] = []
        for assigned in list(self):
            if assigned.is_paused or not assigned.chunks or count_max <= 0:
                continue
            rows = assigned.take(count_max)
            count_max -= len(rows)
            if rows:
                taken.append((assigned.partition, rows))
            # Behind those that wait.
            self._assigned[assigned.partition] = self._assigned.pop(assigned.partition)
        return taken

    def consume(self) -> None:
        """The user is done with all that was handed out."""
        for each in self:
            each.consumed = each.position

    def consumed_offsets(self) -> Mapping[TopicPartition, int]:
        """What is to be committed."""
        return {each.partition: each.consumed for each in self if each.consumed is not None}
