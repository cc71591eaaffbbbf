"""A led partition as the journal of a coordinator's shard."""

import asyncio

from moldau.errors import ErrorCode, KafkaError
from moldau.log.producer_state import Origin
from moldau.log.verification import Guard
from moldau.model import NO_PRODUCER_ID, TopicPartition
from moldau.records.batch import BatchHeader
from moldau.records.buffers import ReadableBuffer, WritableBuffer
from moldau.replication.partition import Partition
from moldau.runtime.clock import Clock


class PartitionJournal:
    """Appends with the acknowledgement that the coordinator's settings ask for."""

    def __init__(self, partition: Partition, clock: Clock, *, acks: int) -> None:
        self._partition = partition
        self._clock = clock
        self._acks = acks

    @property
    def name(self) -> TopicPartition:
        return self._partition.topic_partition

    @property
    def start_offset(self) -> int:
        return self._partition.log.log_start_offset

    @property
    def end_offset(self) -> int:
        return self._partition.log.log_end_offset

    @property
    def leader_epoch(self) -> int:
        return self._partition.state.leader_epoch

    def append(self, batch: WritableBuffer, guard: Guard | None) -> int:
        """Append, and return the first record's offset."""
        partition, now_ms = self._partition, self._clock.now_ms()
        config = partition.log.config
        if len(batch) > config.max_message_bytes:
            message = f"{len(batch)} bytes for {self.name}, {config.max_message_bytes} are allowed"
            raise KafkaError(ErrorCode.MESSAGE_TOO_LARGE, message)
        header = BatchHeader.read(batch)
        if header.producer_id == NO_PRODUCER_ID and header.size <= config.segment_bytes:
            appended = partition.append_batch(batch, header, acks=self._acks, now_ms=now_ms)
        else:
            appended = partition.append(
                batch, acks=self._acks, now_ms=now_ms, origin=Origin.COORDINATOR, guard=guard
            )
        return appended.first_offset

    def is_committed(self, end_offset: int) -> bool:
        """Whether all before `end_offset` is on every replica in sync."""
        return self._partition.is_committed(end_offset)

    async def read(self, offset: int, *, max_bytes: int) -> ReadableBuffer:
        """Batches from the one with `offset` on; off the loop if the disk must be waited for."""
        found = self._partition.log.read(offset, max_bytes=max_bytes, at_least_one=True).range
        if found is None:
            return b""
        cached = found.file.read_cached(found.position, found.size)
        if cached is not None:
            return cached
        return await asyncio.get_running_loop().run_in_executor(None, found.read)
