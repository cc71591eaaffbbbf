"""The partitions that a consumer reads, how far it is, and what was fetched ahead.

A partition has no position until its committed offset, or an end of its log, is looked up.
What was fetched for a position that is no longer wanted is dropped: `version` shows it.
"""

import struct
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from moldau.client.metrics import Metrics
from moldau.client.record import ConsumerRecord
from moldau.model import NO_LEADER_EPOCH, TopicPartition
from moldau.records.batch import PREFIX_SIZE
from moldau.records.columns import EVERYTHING
from moldau.records.fetched import Selection

if TYPE_CHECKING:
    from moldau.records.kernel import RecordReader

CHUNKS_MAX = 2
"""So many answers of brokers are kept per partition: one is read while the next arrives."""

_versions = count()
_PREFIX_AND_EPOCH = struct.Struct(">qii")


@dataclass(slots=True, eq=False)
class Chunk:
    """Fetched records of one partition, read by one reader; reading them leads to `next_offset`."""

    reader: "RecordReader"
    next_offset: int
    data: memoryview
    selection: Selection = EVERYTHING

    @property
    def size_bytes(self) -> int:
        """How much memory it takes."""
        return len(self.data)

    def epoch_before(self, offset: int) -> int:
        """The leader epoch of the record before this offset; -1 if that is not here."""
        epoch, position = NO_LEADER_EPOCH, 0
        while position + _PREFIX_AND_EPOCH.size <= len(self.data):
            base_offset, size, leader_epoch = _PREFIX_AND_EPOCH.unpack_from(self.data, position)
            if base_offset >= offset:
                break
            epoch = leader_epoch
            position += PREFIX_SIZE + size
        return epoch


@dataclass(slots=True, eq=False)
class Assigned:
    """One partition.

    Its records are handed out while others look at it: by `take`, or by the holder of the
    reader of its first chunk, maybe in another thread.
    """

    partition: TopicPartition
    consumed: int | None = None
    """The offset after the last record that the user is done with: what is committed."""
    fetch_offset: int = 0
    is_paused: bool = False
    wants_reset: bool = False
    """Whether the committed offset is of no use, so that the reset policy decides."""
    end_offset: int | None = None
    """Where the log ends for this reader: at the high watermark, or at the last stable offset."""
    read_from: int | None = None
    """A replica that is nearer than the leader (KIP-392), until `read_from_until_ms`."""
    read_from_until_ms: int = 0
    rests_until_ms: int = 0
    """Nothing is fetched before this time, since the last fetch failed."""
    version: int = field(default_factory=lambda: next(_versions))
    """Never used again, so that nothing is taken for a partition that came back meanwhile."""
    validated_epoch: int = NO_LEADER_EPOCH
    """In the log of the leader with this epoch, the position is known to be sound (KIP-320)."""
    chunks: deque[Chunk] = field(default_factory=deque)
    _position: int | None = None
    _epoch: int = NO_LEADER_EPOCH

    @property
    def position(self) -> int | None:
        """The offset after the last record that was handed out."""
        chunks = tuple(self.chunks)
        return chunks[0].reader.position if chunks else self._position

    @property
    def epoch(self) -> int:
        """The leader epoch of the last record that was handed out, -1 if it is not known."""
        chunks = tuple(self.chunks)
        if chunks:
            epoch = chunks[0].epoch_before(chunks[0].reader.position)
            if epoch != NO_LEADER_EPOCH:
                return epoch
        return self._epoch

    @property
    def fetched_epoch(self) -> int:
        """The leader epoch of the last record that was fetched, -1 if it is not known."""
        chunks = tuple(self.chunks)
        return chunks[-1].epoch_before(chunks[-1].next_offset) if chunks else self._epoch

    @property
    def lag(self) -> int | None:
        """How many offsets are still to be read, as far as is known."""
        if self.position is None or self.end_offset is None:
            return None
        return max(self.end_offset - self.position, 0)

    def seek(self, offset: int, epoch: int = NO_LEADER_EPOCH) -> None:
        """Go on from this offset, behind a record of this epoch."""
        self._drop_chunks()
        self._position = self.consumed = self.fetch_offset = offset
        self._epoch = epoch
        self.validated_epoch = NO_LEADER_EPOCH
        self.wants_reset = False

    def lose_position(self) -> None:
        """The broker does not have the offset: the reset policy decides."""
        self._drop_chunks()
        self._position = self.consumed = None
        self._epoch = NO_LEADER_EPOCH
        self.wants_reset = True

    def lose_place(self) -> None:
        """Go on from what the group has committed, which is looked up."""
        self._drop_chunks()
        self._position = self.consumed = None
        self._epoch = NO_LEADER_EPOCH
        self.wants_reset = False

    def leave(self) -> None:
        """Hand out nothing any more, but keep the position."""
        self._position, self._epoch = self.position, self.epoch
        self._drop_chunks()

    def add(self, chunk: Chunk) -> None:
        """Keep what was fetched at `fetch_offset`."""
        self.fetch_offset = chunk.next_offset
        self.chunks.append(chunk)

    def current(self) -> Chunk | None:
        """The first chunk that is not read to its end."""
        while self.chunks and self.chunks[0].reader.is_exhausted:
            self.pop()
        return self.chunks[0] if self.chunks else None

    def pop(self) -> Chunk:
        """Take out the first chunk as if it were read to its end."""
        chunk = self.chunks[0]
        # Offsets without a record, as after compaction, are passed as well.
        self._position, self._epoch = chunk.next_offset, chunk.epoch_before(chunk.next_offset)
        return self.chunks.popleft()

    def take(self, count_max: int) -> "list[ConsumerRecord[Any, Any]]":
        """Hand out records in order."""
        taken: list[ConsumerRecord[Any, Any]] = []
        while len(taken) < count_max and (chunk := self.current()) is not None:
            taken += chunk.reader.take(count_max - len(taken))  # type: ignore[arg-type]
            if not chunk.reader.is_exhausted:  # enough, or what follows fails next time
                break
        return taken

    def _drop_chunks(self) -> None:
        self.version = next(_versions)
        for chunk in self.chunks:
            chunk.reader.close()
        self.chunks.clear()


class Assignment:
    """All partitions of a consumer."""

    def __init__(self) -> None:
        self._assigned: dict[TopicPartition, Assigned] = {}
        self._failure: Exception | None = None

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

    def metrics(self) -> Metrics:
        """How far the user is."""
        lags = [each.lag for each in self]
        return {
            "assigned-partitions": len(self._assigned),
            "records-lag-max": max((lag for lag in lags if lag is not None), default=0),
            "fetched-bytes-waiting": self.buffered_bytes,
        }

    def replace(self, partitions: Iterable[TopicPartition]) -> None:
        """Read these; one that was read before goes on where it is."""
        before = self._assigned
        self._assigned = {each: before.get(each) or Assigned(each) for each in partitions}
        for partition, assigned in before.items():
            if partition not in self._assigned:
                assigned.leave()

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

    def take(self, count_max: int) -> "list[ConsumerRecord[Any, Any]]":
        """Hand out records, from a partition at a time and from each in its turn.

        What fails after some were taken, as a deserializer may, fails next time.
        """
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        taken: list[ConsumerRecord[Any, Any]] = []
        for assigned in self._in_turn():
            if len(taken) >= count_max:
                break
            self._put_last(assigned)
            try:
                taken += assigned.take(count_max - len(taken))
            except Exception as error:
                if not taken:
                    raise
                self._failure = error
                break
        return taken

    def next_in_turn(self) -> Assigned | None:
        """A partition with records for the user; each has its turn."""
        for assigned in self._in_turn():
            self._put_last(assigned)
            if assigned.current() is not None:
                return assigned
        return None

    def take_chunks(self) -> Iterator[tuple[TopicPartition, Chunk, int]]:
        """Hand out all that was fetched: whole chunks, and where each is to be read from."""
        for assigned in self._in_turn():
            while (chunk := assigned.current()) is not None:
                start_offset = chunk.reader.position
                chunk.reader.close()
                assigned.pop()
                yield assigned.partition, chunk, start_offset

    def _in_turn(self) -> list[Assigned]:
        return [each for each in self if each.chunks and not each.is_paused]

    def _put_last(self, assigned: Assigned) -> None:
        self._assigned[assigned.partition] = self._assigned.pop(assigned.partition)

    def consume(self) -> None:
        """The user is done with all that was handed out."""
        for each in self:
            each.consumed = each.position

    def epoch_at(self, partition: TopicPartition, offset: int) -> int:
        """The leader epoch of the record before an offset, if the user has come just as far."""
        assigned = self._assigned.get(partition)
        is_there = assigned is not None and assigned.position == offset
        return assigned.epoch if assigned is not None and is_there else NO_LEADER_EPOCH

    def consumed_offsets(self) -> Mapping[TopicPartition, int]:
        """What is to be committed."""
        return {each.partition: each.consumed for each in self if each.consumed is not None}
