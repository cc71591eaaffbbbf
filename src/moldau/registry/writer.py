"""Writes records to the topic, as the only one who can.

The transactional id is the fence: a writer that begins with it ends its predecessor, whose records
that are not committed by then never will be. What the successor has read by then is therefore
all there is, and an id that it finds free is free.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from moldau.client.producer.producer import Producer
from moldau.registry.failures import NotLeader, RegistryRefused
from moldau.registry.records import NoopRecord, RegistryRecord, encode
from moldau.registry.topic import Client, TopicReader, highest_id_between

_log = logging.getLogger(__name__)

_PREFIX = "moldau-registry-"
_WRITE_S = 20.0
_READ_S = 30.0


@dataclass(slots=True)
class TopicWriter:
    """The leader's way to the topic; without a producer this one does not lead."""

    client: Client
    group: str
    reader: TopicReader
    _producer: Producer[bytes, bytes] | None = None

    @property
    def is_open(self) -> bool:
        """Whether it may write, as far as it knows: only the brokers know for sure."""
        return self._producer is not None

    async def take_over(self) -> None:
        """End the writer before this one, and see all that was written."""
        settings = {
            **self.client,
            "transactional.id": f"{_PREFIX}{self.group}",
            "max.block.ms": int(_WRITE_S * 1000),
            "delivery.timeout.ms": int(_WRITE_S * 1000),
            "request.timeout.ms": int(_WRITE_S * 500),
            "max.request.size": 2**25,
        }
        producer: Producer[bytes, bytes] = Producer(settings)
        await producer.start()
        try:
            await self._see_everything(producer)
        except BaseException:
            await producer.close()
            raise
        self._producer = producer

    async def _see_everything(self, producer: Producer[bytes, bytes]) -> None:
        reader, subjects = self.reader, self.reader.subjects
        await self._send(producer, [NoopRecord(subjects.highest_id)])
        end_offset = reader.applied_offset
        start_offset = reader.before_last_offset + 1
        place = reader.partition
        highest = await highest_id_between(self.client, place, start_offset, end_offset)
        if highest > subjects.highest_id:
            _log.info("ids up to %d were used in transactions that were aborted", highest)
            await self._send(producer, [NoopRecord(highest)])

    async def write(self, records: Sequence[RegistryRecord]) -> int:
        """Store records, all or none, and return the last offset once the state has them.

        After a failure it is not known whether they are stored: somebody has to take over, be
        it this one, to find out.
        """
        if self._producer is None:
            raise NotLeader("no registry leads at the moment")
        try:
            return await self._send(self._producer, records)
        except BaseException:
            await self.close()
            raise

    async def _send(
        self, producer: Producer[bytes, bytes], records: Sequence[RegistryRecord]
    ) -> int:
        reader = self.reader
        async with asyncio.timeout(_WRITE_S):
            async with producer.transaction():
                pairs = map(encode, records)
                receipts = [
                    await producer.send(reader.topic, value, key=key, partition=0)
                    for key, value in pairs
                ]
                offset = max([(await each).offset for each in receipts])
        if offset <= reader.applied_offset:
            reader.failure = f"{reader.topic} was made anew"
        if reader.failure or not await reader.reached(offset, _READ_S):
            raise RegistryRefused(50001, f"{reader.topic} is not followed: {reader.failure}")
        return offset

    async def close(self) -> None:
        """Write nothing more."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.close(0.0)
