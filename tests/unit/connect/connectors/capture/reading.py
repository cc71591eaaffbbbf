"""Reads a capture's batches by hand, as a task does: stored, then confirmed."""

import time
from collections.abc import Callable, Mapping

from moldau.connect.connector import Offset
from moldau.connect.connectors.capture.source import CaptureSource
from moldau.connect.data.record import ConnectRecord

_DEADLINE_S = 60


class CaptureReader:
    """Of one connector."""

    def __init__(
        self, kind: type[CaptureSource], config: Mapping[str, str], offset: Offset | None
    ) -> None:
        self.source = kind(config)
        self.offset = offset
        self.records: list[ConnectRecord] = []
        self.sizes: list[int] = []

    def step(self, *, stores: bool = True) -> list[ConnectRecord] | None:
        """One batch; None if there was nothing."""
        (partition,) = self.source.partitions()
        batch = self.source.read(partition, self.offset, 10_000)
        if batch is None:
            return None
        found = list(batch.records)
        if stores:
            self.records += found
            self.sizes.append(len(found))
            self.offset = batch.offset
            self.source.commit(partition, batch.offset)
        return found

    def until(self, is_so: Callable[[], bool]) -> None:
        """Read on until something holds."""
        deadline = time.monotonic() + _DEADLINE_S
        while not is_so():
            assert time.monotonic() < deadline, (self.offset, self.changes())
            self.step()

    def read(self, count: int) -> list[tuple[object, ...]]:
        """Read on until there are so many records."""
        self.until(lambda: len(self.records) >= count)
        return self.changes()

    def changes(self) -> list[tuple[object, ...]]:
        """What each record is: operation, key and new row; a tombstone has no operation."""
        return [_shown(each) for each in self.records]

    def close(self) -> None:
        self.source.close()


def _shown(record: ConnectRecord) -> tuple[object, ...]:
    key, value = record.key.value, record.value.value
    shown_key = tuple(key.values()) if isinstance(key, dict) else None
    if not isinstance(value, dict):
        return None, shown_key, None
    after = value.get("after")
    return value.get("op"), shown_key, tuple(after.values()) if isinstance(after, dict) else None
