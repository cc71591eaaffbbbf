"""A partition's leader as transactions see it."""

from dataclasses import dataclass, field

from moldau.coordinator.transaction.transaction import ProducerIdentity
from moldau.log.producer_state import Origin, Producers
from moldau.log.verification import Guard
from moldau.records.batch import TRANSACTIONAL, BatchHeader, Producer, write_batch
from moldau.records.control import EndMarker, read_end_marker, write_end_marker
from moldau.records.record import Record


@dataclass
class Leader:
    """A partition: its batches in order, checked as the log checks them."""

    producers: Producers = field(default_factory=Producers)
    entries: list[tuple[int, str | None, bool]] = field(default_factory=list)

    def append(self, producer: Producer, value: str, guard: Guard | None) -> None:
        batch = write_batch([Record(0, 0, None, b"")], attributes=TRANSACTIONAL, producer=producer)
        header = BatchHeader.read(batch)
        header.base_offset = len(self.entries)
        assert self.producers.check_append([(header, None)], Origin.CLIENT, guard) is None
        self.producers.apply(header, None)
        self.entries.append((producer.producer_id, value, False))

    def end(self, producer: ProducerIdentity, *, is_commit: bool) -> None:
        marker = EndMarker(is_commit, 0)
        batch = write_end_marker(
            marker, producer_id=producer.producer_id, producer_epoch=producer.epoch, timestamp_ms=0
        )
        header = BatchHeader.read(batch)
        header.base_offset = len(self.entries)
        read = read_end_marker(batch)
        self.producers.check_append([(header, read)], Origin.COORDINATOR, None)
        self.producers.apply(header, read)
        self.entries.append((producer.producer_id, None, is_commit))

    def visible(self) -> set[str]:
        """What consumers of committed records see."""
        pending: dict[int, list[str]] = {}
        seen: set[str] = set()
        for producer_id, value, is_commit in self.entries:
            if value is not None:
                pending.setdefault(producer_id, []).append(value)
            else:
                ended = pending.pop(producer_id, [])
                seen.update(ended if is_commit else ())
        return seen
