"""Consumers for those who look: they belong to no group, and create nothing."""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moldau.client.consumer.consumer import Consumer
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.client.arrow.tables import Handed

API_TIMEOUT_MS = 5000
_POLL_S = 0.5
_SILENCE_S = 10.0


@dataclass(frozen=True, slots=True)
class FetchSizes:
    """How much is asked for at once, of a partition and in all; one record may be larger."""

    partition_bytes: int = 4 << 20
    bytes: int = 16 << 20


class LogReader(Consumer[bytes, bytes]):
    """A consumer that also hands out batches as they lie in the log."""

    async def poll_chunks(self, timeout_s: float) -> "list[Handed]":
        """All that was fetched, and from where on it is to be read; nothing if it takes longer."""
        return await self._poll_chunks(timeout_s)

    async def between(
        self, starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
    ) -> "AsyncGenerator[list[Handed], None]":
        """Everything between these offsets, as it is fetched; gaps in offsets cost nothing."""
        left = {each for each, at in starts.items() if at < ends[each]}
        self.assign({each: starts[each] for each in left})
        self.resume(*left)  # those that an earlier look had are still paused
        answered_s = time.monotonic()
        while left:
            handed = await self.poll_chunks(_POLL_S)
            if handed:
                answered_s = time.monotonic()
            done = {each for each in left if await self.position(each) >= ends[each]}
            left -= done
            self.pause(*done)
            if left and time.monotonic() - answered_s > _SILENCE_S:
                raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"no records come of {min(left)}")
            yield handed


@asynccontextmanager
async def reading(
    settings: Mapping[str, object], *, is_uncommitted: bool, sizes: FetchSizes | None = None
) -> AsyncIterator[LogReader]:
    """A consumer for a look."""
    sizes = sizes or FetchSizes()
    consumer = LogReader(
        {
            "client.id": "moldau-console",
            **settings,
            "allow.auto.create.topics": False,
            "isolation.level": "read_uncommitted" if is_uncommitted else "read_committed",
            "max.partition.fetch.bytes": sizes.partition_bytes,
            "fetch.max.bytes": sizes.bytes,
            "default.api.timeout.ms": API_TIMEOUT_MS,
        }
    )
    async with consumer:
        yield consumer
