# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Takes records into the open batches of their partitions: what happens for every record sent.

This file runs as it stands and is also compiled as `_intake`, see records/kernel.py. Whatever
happens less often, such as to begin a batch, is left to accumulator.py: here is a table of the
batches that take records, and a record that finds none is not taken.
"""

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

if not cython.compiled:
    from moldau.records.murmur import murmur2

    if TYPE_CHECKING:
        from moldau.client.producer.batches import Batch
        from moldau.client.record import RecordMetadata
        from moldau.records.kernel_build import Headers, RecordBuffer

NO_PARTITION = -1
NANOSECONDS_PER_MS = 1_000_000


class Receipt:
    """What becomes of a record that was sent; it need not be awaited.

    In asyncio code `await` it, in blocking code take its `result()`.
    """

    def __init__(self, batch: "Batch", row: int, timestamp: int) -> None:
        self.batch = batch
        self.row = row
        self.timestamp = timestamp

    def done(self) -> bool:
        """Whether the record is stored, or has failed."""
        return self.batch.of_row(self.row)[0].is_settled

    def result(self, timeout_s: float | None = None) -> "RecordMetadata":
        """Block until the record is stored, and return where; raise why it is not."""
        return self.batch.wait(self.row, self.timestamp, timeout_s)

    def add_done_callback(self, callback: "Callable[[Receipt], object]") -> None:
        """Have the receipt passed to `callback` when it is done, by the client's own thread."""
        self.batch.when_settled(self.row, lambda: callback(self))

    def __await__(self) -> "Generator[object, None, RecordMetadata]":
        return self.batch.wait_async(self.row, self.timestamp).__await__()


class OpenBuffers:
    """Of one topic, the buffers of batches that take records, by partition."""

    def __init__(self, partition_count: int) -> None:
        self.partition_count = partition_count
        self.buffers: list[RecordBuffer | None] = [None] * partition_count
        self.sticky_partition = NO_PARTITION
        """Where records without a key go."""


class Intake:
    """The table of open buffers; holds at most `size_max` bytes of records.

    Threads share it, so it has a lock, which also guards whatever else they share.
    """

    def __init__(
        self,
        size_max: int,
        now_ns: Callable[[], int],
        acquire: Callable[[], object],
        release: Callable[[], None],
    ) -> None:
        self.size_max = size_max
        self.now_ns = now_ns
        self.acquire = acquire
        self.release = release
        self.used_bytes = 0
        self.topics: dict[str, OpenBuffers] = {}

    def append(  # noqa: PLR0917 - positions are quicker than names
        self,
        topic: str,
        value: object,
        key: object,
        partition: int | None,
        timestamp_ms: int | None,
        headers: "Headers",
    ) -> Receipt | None:
        """Take a record; None if its batch has no room, or if there is none."""
        key_bytes = None if key is None else as_bytes(key)
        value_bytes = None if value is None else as_bytes(value)
        if timestamp_ms is None:
            timestamp = self.now_ns()
            timestamp //= NANOSECONDS_PER_MS
        else:
            timestamp = timestamp_ms
        self.acquire()
        try:
            found = self.topics.get(topic)
            if found is None:
                return None
            buffer = open_buffer(found, key_bytes, NO_PARTITION if partition is None else partition)
            if buffer is None:
                return None
            row = buffer.count
            room = self.size_max - self.used_bytes
            size = buffer.append(timestamp, key_bytes, value_bytes, headers, room)
            if size <= 0:
                return None
            self.used_bytes += size
            receipt = Receipt.__new__(Receipt)
            receipt.batch = buffer.owner  # type: ignore[assignment]
            receipt.row = row
            receipt.timestamp = timestamp
            return receipt
        finally:
            self.release()


def as_bytes(value: object) -> bytes:
    """The serializer for what is bytes already; text becomes UTF-8."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    kind = type(value).__name__
    raise TypeError(f"a key or value is bytes or text, not {kind}: pass a serializer for it")


def open_buffer(found: OpenBuffers, key: bytes | None, partition: int) -> "RecordBuffer | None":
    """The buffer that takes a record with this key, if there is one."""
    if partition == NO_PARTITION:
        if key is None:
            partition = found.sticky_partition
        else:
            partition = (murmur2(key) & 0x7FFFFFFF) % found.partition_count
    if partition < 0 or partition >= found.partition_count:
        return None
    return found.buffers[partition]
