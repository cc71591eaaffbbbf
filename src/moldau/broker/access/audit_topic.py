"""Denials as records in a topic, beside the lines in the log.

Nothing waits for them: they are gathered, and sent to the leader of the topic's partition by a
task of their own. Of more than can be kept the oldest are lost, and the log says how many.
"""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol

from moldau.broker.topics.tree import Topics
from moldau.errors import ErrorCode, KafkaError
from moldau.metadata.cache import MetadataCache
from moldau.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from moldau.records.batch import write_batch
from moldau.records.record import Record
from moldau.replication.partition import ALL_IN_SYNC
from moldau.runtime.clock import Clock

_log = logging.getLogger(__name__)

KEPT_MAX = 10_000
_BATCH_MAX = 100
TEXT_MAX = 512
"""Characters of a name that are kept: a client may ask for longer ones than a topic can have."""
_PARTITION = 0
_TIMEOUT_MS = 10_000
_AGAIN_S = 1.0

Send = Callable[[int, object], Awaitable[object]]
"""Asks a broker of the cluster; raises KafkaError if it cannot be asked."""


class AuditedBroker(Protocol):
    """What the topic needs of the broker."""

    @property
    def id(self) -> int: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def metadata(self) -> MetadataCache: ...
    @property
    def topics(self) -> Topics: ...


class AuditTopic:
    """Keeps denials until they are in the topic."""

    def __init__(self, name: str, broker: AuditedBroker, *, replication_factor: int) -> None:
        self.name = name
        self._broker = broker
        self._replication_factor = replication_factor
        self._kept: deque[Record] = deque()
        self._lost_count = 0
        self._is_there = asyncio.Event()

    def add(self, principal: str, facts: dict[str, object]) -> None:
        """Keep a denial; it is sent later."""
        if len(self._kept) >= KEPT_MAX:
            self._kept.popleft()
            self._lost_count += 1
        now_ms = self._broker.clock.now_ms()
        entry = {"time_ms": now_ms, "broker": self._broker.id, "principal": principal, **facts}
        short = {
            name: each[:TEXT_MAX] if isinstance(each, str) else each for name, each in entry.items()
        }
        value = json.dumps(short, ensure_ascii=False).encode(errors="backslashreplace")
        key = principal[:TEXT_MAX].encode(errors="backslashreplace")
        self._kept.append(Record(0, now_ms, key, value, ()))
        self._is_there.set()

    async def run(self, send: Send) -> None:
        """Send what is kept, for as long as the broker runs."""
        while True:
            await self._is_there.wait()
            try:
                await self._send_some(send)
            except KafkaError as error:
                _log.warning(
                    "Failed to write %d denials to %s, retrying: %s",
                    len(self._kept),
                    self.name,
                    error,
                )
                await asyncio.sleep(_AGAIN_S)

    async def _send_some(self, send: Send) -> None:
        leader = await self._leader()
        some = [self._kept[index] for index in range(min(_BATCH_MAX, len(self._kept)))]
        lost_before = self._lost_count
        batch = write_batch([record._replace(offset=at) for at, record in enumerate(some)])
        partition = PartitionProduceData(index=_PARTITION, records=batch)
        answer = await send(
            leader,
            ProduceRequest(
                acks=ALL_IN_SYNC,
                timeout_ms=_TIMEOUT_MS,
                topic_data=[TopicProduceData(name=self.name, partition_data=[partition])],
            ),
        )
        assert isinstance(answer, ProduceResponse)
        result = answer.responses[0].partition_responses[0]
        if result.error_code:
            raise KafkaError(ErrorCode(result.error_code), result.error_message or "")
        # Some of what was sent may have made room meanwhile.
        for _ in range(len(some) - (self._lost_count - lost_before)):
            self._kept.popleft()
        self._report_lost()
        if not self._kept:
            self._is_there.clear()

    def _report_lost(self) -> None:
        if self._lost_count:
            _log.error(
                "Dropped %d denials before they were in %s: the queue was full",
                self._lost_count,
                self.name,
            )
            self._lost_count = 0

    async def _leader(self) -> int:
        """Who leads the topic, which is made if it is not there."""
        found = self._broker.metadata.image.partition(self.name, _PARTITION)
        if found is None:
            topics = self._broker.topics
            try:
                await topics.create(
                    self.name, topics.place(1, self._replication_factor), {}, cause="for the audit"
                )
            except KafkaError as error:
                if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                    raise
            await topics.until_led(self.name, 1, timeout_s=_TIMEOUT_MS / 1000)
            found = self._broker.metadata.image.partition(self.name, _PARTITION)
        if found is None or found.leader < 0:
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"{self.name} has no leader")
        return found.leader
