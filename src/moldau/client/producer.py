"""The producer: writes records to topics."""

import asyncio
import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from moldau.client.accumulator import Accumulator, OutgoingRecord
from moldau.client.admission import Admission
from moldau.client.batches import intake
from moldau.client.cluster import Cluster
from moldau.client.partitioner import Partitioner
from moldau.client.record import Headers, RecordMetadata
from moldau.client.sender import SETTLED, Sender
from moldau.client.settings import ProducerSettings, read_settings
from moldau.errors import ErrorCode, KafkaError
from moldau.runtime.random import SystemRandom
from moldau.runtime.waiters import Waiters

if TYPE_CHECKING:
    from moldau.client.intake import Receipt

Key = TypeVar("Key")
Value = TypeVar("Value")
Serializer = Callable[[Value], bytes]
as_bytes: Serializer[object] = intake.as_bytes


class Producer(Generic[Key, Value]):
    """Writes records in batches, each of them once and in order.

        async with Producer(bootstrap_servers="localhost:9092") as producer:
            stored = await producer.send("orders", b"value", key=b"key")
            print((await stored).offset)

    Settings are Kafka's, as keywords (`linger_ms=5`) or as a mapping with Kafka's own names
    (`{"linger.ms": 5}`). Leaving the block sends what is still to be sent.
    """

    def __init__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        key_serializer: Serializer[Key] = as_bytes,
        value_serializer: Serializer[Value] = as_bytes,
        partitioner: Partitioner | None = None,
        **options: object,
    ) -> None:
        self._settings = read_settings(ProducerSettings, settings, options)
        self._serialize_key = key_serializer
        self._serialize_value = value_serializer
        self._partitioner = partitioner
        self.is_plain = partitioner is None and key_serializer is value_serializer is as_bytes
        """Whether open batches take records as the user gives them."""
        self._accumulator = Accumulator(self._settings)
        self.append = self._accumulator.append
        self._waiters = Waiters()
        self._cluster: Cluster
        self._sender: Sender
        self.admission: Admission
        self._sending: asyncio.Task[None] | None = None
        self._process_id = 0
        self._is_closed = False

    async def start(self) -> None:
        """Connect; fails within `request.timeout.ms` if no broker can be reached."""
        self._cluster = Cluster(self._settings)
        self._sender = Sender(self._cluster, self._accumulator, self._waiters)
        self._accumulator.settle_here()
        self.admission = Admission(
            self._sender,
            self._waiters,
            SystemRandom(),
            partitioner=self._partitioner,
            check=self._check_usable,
        )
        self._process_id = os.getpid()
        try:
            await self._cluster.refresh()
        except BaseException:
            self._cluster.close()
            raise
        self._sending = asyncio.create_task(self._sender.run(), name="moldau-producer")
        self._sending.add_done_callback(self._give_up)

    async def send(
        self,
        topic: str,
        value: Value | None = None,
        *,
        key: Key | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers = (),
    ) -> "Receipt":
        """Take a record, and return what can be awaited for its place in the log.

        Returns at once, unless the topic is new or the buffer is full: then it waits up to
        `max.block.ms`. Whoever does not need to know need not await the result; failures are
        logged too.
        """
        if self.is_plain:
            receipt: Receipt | None = self.append(
                topic, value, key, partition, timestamp_ms, headers
            )
            if receipt is not None:
                return receipt
        record = self.outgoing(key, value, timestamp_ms, headers)
        return await self.admission.wait(topic, record, partition)

    def outgoing(
        self, key: Key | None, value: Value | None, timestamp_ms: int | None, headers: Headers
    ) -> OutgoingRecord:
        """A record as it is sent, by now if it has no time."""
        self._check_usable()
        return OutgoingRecord(
            timestamp_ms=self._cluster.clock.now_ms() if timestamp_ms is None else timestamp_ms,
            key=None if key is None else self._serialize_key(key),
            value=None if value is None else self._serialize_value(value),
            headers=headers,
        )

    async def send_and_wait(
        self, topic: str, value: Value | None = None, *, key: Key | None = None
    ) -> RecordMetadata:
        """Write one record, and return its place in the log."""
        return await (await self.send(topic, value, key=key))

    async def flush(self, timeout_s: float | None = None) -> None:
        """Return when all that was sent before is stored or has failed."""
        batches = list(self._accumulator)
        if not batches:
            return
        if timeout_s is None:
            timeout_s = self._settings.delivery_timeout_ms / 1000
        self._accumulator.flushing_count += 1
        self._sender.wake()
        try:
            await self._waiters.until(
                lambda: all(batch.is_settled for batch in batches) or not self._is_sending,
                keys=[SETTLED],
                timeout_s=timeout_s,
            )
        finally:
            self._accumulator.flushing_count -= 1
        if not all(batch.is_settled for batch in batches):
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, "not all records could be stored")

    async def close(self, timeout_s: float | None = None) -> None:
        """Send what is still to be sent, then hang up."""
        if self._is_closed or self._sending is None:
            return
        self._is_closed = True
        self._accumulator.close()
        try:
            await self.flush(timeout_s)
        finally:
            self._sending.cancel()
            await asyncio.wait([self._sending])
            self._cluster.close()

    async def partitions_of(self, topic: str) -> list[int]:
        """The partitions of a topic."""
        self._check_usable()
        wait_s = self._settings.max_block_ms / 1000
        await self._cluster.wait_for_topic(topic, timeout_s=wait_s)
        return self._cluster.metadata.partitions_of(topic)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def _is_sending(self) -> bool:
        return self._sending is not None and not self._sending.done()

    def _give_up(self, _sending: asyncio.Task[None]) -> None:
        """Nobody sends any more: what is left is lost."""
        self._accumulator.close()
        for batch in list(self._accumulator):
            reason = f"{batch.partition}: the producer was closed before this was stored"
            batch.fail(KafkaError(ErrorCode.REQUEST_TIMED_OUT, reason))
        self._waiters.wake(SETTLED)

    def _check_usable(self) -> None:
        if self._is_closed or self._sending is None:
            state = "closed" if self._is_closed else "not started"
            raise RuntimeError(f"the producer is {state}: use it within `async with`")
        if self._sending.done():
            raise RuntimeError("the producer has stopped") from self._sending.exception()
        if self._process_id != os.getpid():
            raise RuntimeError("a producer cannot be used after a fork: make one in each process")
