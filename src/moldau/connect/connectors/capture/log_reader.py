"""The second part of a capture: the stream of changes as batches that end with a commit."""

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from moldau.connect.connector import Offset, SourceBatch
from moldau.connect.connectors.capture.changes import Change
from moldau.connect.connectors.capture.envelope import EnvelopeWriter
from moldau.connect.data.record import ConnectRecord

Frame = TypeVar("Frame")
_WATCH_S = 60.0


class Collector(Protocol):
    """Makes changes of what the log has, and knows how far it got."""

    has_moved: bool
    """Whether a commit was passed, or a change collected."""
    size_bytes: int

    def __len__(self) -> int:
        """How many changes there are."""

    @property
    def is_within(self) -> bool:
        """Whether a transaction goes on."""

    def offset(self) -> dict[str, object]:
        """For what was collected up to here."""

    def cut(self) -> list[Change]:
        """What was collected; it is forgotten here."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much is given at once, and how long it is waited for."""

    batch_rows: int
    rows_max: int
    """A transaction with more is given in parts."""
    bytes_max: int
    poll_s: float
    heartbeat_s: float


class ChangeLogReader(ABC, Generic[Frame]):
    """Reads a log that gives frames; what they are is the database's matter."""

    def __init__(
        self,
        limits: BatchLimits,
        collector: Collector,
        records: EnvelopeWriter,
        start: Offset | None,
    ) -> None:
        self._limits = limits
        self._changes = collector
        self._records = records
        self._stored = start
        self._frames: deque[Frame] = deque()
        self._rows_wanted = limits.batch_rows
        self.waits_for_store = False
        """Whether a batch was given that is not known to be stored."""
        self._beat_at_s, self._watched_at_s = time.monotonic(), float("-inf")
        self.measurements: Mapping[str, float] = {}
        """Of the log, when it was last looked at."""

    @abstractmethod
    def receive(self, timeout_s: float) -> Sequence[Frame]:
        """What has come, or comes within a time."""

    @abstractmethod
    def take(self, frame: Frame) -> None:
        """Give a frame to the collector."""

    def idle(self) -> None:
        """Called while it waits for the log."""

    def is_due(self) -> bool:
        """Whether the offset is to be stored, though no change was collected."""
        return False

    def watch(self) -> None:
        """Called now and then: how is the server?"""

    def beat(self) -> None:
        """Called with each heartbeat."""

    def batch(self, limit: int) -> SourceBatch | None:
        """About so many changes, up to a commit; waits for them for a while.

        None if there was nothing.
        """
        self._rows_wanted = min(limit, self._limits.batch_rows)
        until_s = time.monotonic() + self._limits.poll_s
        while True:
            self._watch()
            self._take()
            if self._has_enough():
                return self._given()
            self.idle()
            left_s = until_s - time.monotonic()
            has_all = len(self._changes) > 0 and not self._changes.is_within
            self._frames.extend(self.receive(0 if has_all else max(left_s, 0)))
            if self._frames:
                continue
            if has_all:
                return self._given()
            if left_s <= 0:
                return self._given() if self._beat_is_due() or self.is_due() else None

    def stored(self, offset: Offset) -> None:
        """A batch is in its topics."""
        self._stored = offset
        self.waits_for_store = False

    def _take(self) -> None:
        while self._frames:
            self.take(self._frames.popleft())
            if self._has_enough():
                return

    def _has_enough(self) -> bool:
        """Whether to give what there is: all of a transaction, unless it is too large."""
        limits, changes = self._limits, self._changes
        if len(changes) >= limits.rows_max or changes.size_bytes >= limits.bytes_max:
            return True
        return len(changes) >= self._rows_wanted and not changes.is_within

    def _given(self) -> SourceBatch:
        changes = self._changes.cut()
        offset: Mapping[str, object] = self._changes.offset()
        if not changes and self._stored is not None and not self._changes.has_moved:
            offset = self._stored
        records = self._records.streamed(changes)
        self.waits_for_store = True
        if self._beat_is_due():
            return SourceBatch([], offset, [*records, self._heartbeat()])
        return SourceBatch([], offset, records)

    def _beat_is_due(self) -> bool:
        every_s = self._limits.heartbeat_s
        is_due = every_s > 0 and time.monotonic() - self._beat_at_s >= every_s
        return is_due and not self._changes.is_within

    def _heartbeat(self) -> ConnectRecord:
        self._beat_at_s = time.monotonic()
        self.beat()
        return self._records.heartbeat()

    def _watch(self) -> None:
        if time.monotonic() - self._watched_at_s >= _WATCH_S:
            self._watched_at_s = time.monotonic()
            self.watch()
