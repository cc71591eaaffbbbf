"""A journal in memory, with as many batches committed as a test wants."""

from moldau.errors import KafkaError
from moldau.log.verification import Guard
from moldau.records.batch import BatchHeader, iterate_headers, stamp
from moldau.records.buffers import WritableBuffer


class MemoryJournal:
    """Commits at once, unless `is_slow`; raises `failure` instead of appending, if there is one."""

    name = "journal"
    start_offset = 0
    leader_epoch = 0

    def __init__(self) -> None:
        self.data = bytearray()
        self.end_offset = 0
        self.high_watermark = 0
        self.is_slow = False
        self.failure: KafkaError | None = None

    @property
    def is_alone(self) -> bool:
        return not self.is_slow

    def append(self, batch: WritableBuffer, guard: Guard | None) -> int:
        if self.failure is not None:
            raise self.failure
        first_offset = self.end_offset
        stamp(batch, 0, base_offset=first_offset, leader_epoch=0)
        self.data += batch
        self.end_offset = BatchHeader.read(batch).next_offset
        if not self.is_slow:
            self.high_watermark = self.end_offset
        return first_offset

    def is_committed(self, end_offset: int) -> bool:
        if self.failure is not None:
            raise self.failure
        return self.high_watermark >= end_offset

    def commit(self) -> None:
        """Everything that was appended is safe now."""
        self.high_watermark = self.end_offset

    async def read(self, offset: int, *, max_bytes: int) -> bytes:
        return bytes(self.data)

    def lose_uncommitted(self) -> None:
        """Become what another broker would have: nothing that was not committed."""
        kept = 0
        for position, header in iterate_headers(self.data):
            if header.base_offset >= self.high_watermark:
                break
            kept = position + header.size
        del self.data[kept:]
        self.end_offset = self.high_watermark
