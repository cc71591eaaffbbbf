"""The producer for code that blocks."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Generic, Self, TypeVar

from moldau.client import producer
from moldau.client.blocking.loop_thread import LoopThread
from moldau.client.encoding import Headers
from moldau.client.partitioner import Partitioner
from moldau.client.producer import Serializer, as_bytes
from moldau.client.record import RecordMetadata

Key = TypeVar("Key")
Value = TypeVar("Value")


class Producer(Generic[Key, Value]):
    """`moldau.Producer` for code that blocks; usable from several threads."""

    def __init__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        key_serializer: Serializer[Key] = as_bytes,
        value_serializer: Serializer[Value] = as_bytes,
        partitioner: Partitioner | None = None,
        **options: object,
    ) -> None:
        self._producer = producer.Producer[Key, Value](
            settings,
            key_serializer=key_serializer,
            value_serializer=value_serializer,
            partitioner=partitioner,
            **options,
        )
        self._thread = LoopThread("moldau-producer")
        try:
            self._thread.call(self._producer.start())
        except BaseException:
            self._thread.close()
            raise

    def send(
        self,
        topic: str,
        value: Value | None = None,
        *,
        key: Key | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers = (),
    ) -> "Future[RecordMetadata]":
        """Take a record, and return a future of its place in the log."""
        future: Future[RecordMetadata] = Future()

        async def send() -> None:
            result = await self._producer.send(
                topic,
                value,
                key=key,
                partition=partition,
                timestamp_ms=timestamp_ms,
                headers=headers,
            )
            result.add_done_callback(lambda done: _copy(done, future))

        self._thread.call(send())
        return future

    def send_and_wait(
        self, topic: str, value: Value | None = None, *, key: Key | None = None
    ) -> RecordMetadata:
        """Write one record, and return its place in the log."""
        return self._thread.call(self._producer.send_and_wait(topic, value, key=key))

    def flush(self, timeout_s: float | None = None) -> None:
        """Return when all that was sent before is stored or has failed."""
        self._thread.call(self._producer.flush(timeout_s))

    def partitions_of(self, topic: str) -> list[int]:
        """The partitions of a topic."""
        return self._thread.call(self._producer.partitions_of(topic))

    def close(self, timeout_s: float | None = None) -> None:
        """Send what is still to be sent, then hang up."""
        if not self._thread.is_closed:
            try:
                self._thread.call(self._producer.close(timeout_s))
            finally:
                self._thread.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _copy(done: "asyncio.Future[RecordMetadata]", future: "Future[RecordMetadata]") -> None:
    """Tell the thread that waits what became of a record."""
    if not future.set_running_or_notify_cancel():
        return
    error = done.exception()
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(done.result())
