"""The second part of a capture: the stream of changes as batches that end with a commit.

The slot is told what is stored, and nothing above that; while nothing waits to be stored, it is
told how far the server is, so that it does not keep the log of tables that nobody captures.
"""

import logging
import time
from collections import deque
from collections.abc import Mapping

from moldau.connect.connector import Offset, SourceBatch
from moldau.connect.connectors.postgresql.capture import Capture
from moldau.connect.connectors.postgresql.changes import ChangeCollector
from moldau.connect.connectors.postgresql.frames import KeepAlive, LogData
from moldau.connect.connectors.postgresql.pgoutput import decode_message
from moldau.connect.connectors.postgresql.position import LogPosition
from moldau.connect.connectors.postgresql.replication import ReplicationStream, StreamSettings
from moldau.connect.connectors.postgresql.slot import slot_state
from moldau.connect.data.record import ConnectRecord

_log = logging.getLogger(__name__)

_WATCH_S = 60.0


class WalReader:
    """Reads from a position on; SlotInUseError if another one does."""

    def __init__(self, capture: Capture, position: LogPosition, start: Offset | None) -> None:
        settings = capture.settings
        self._capture = capture
        self._stored = start
        self._collector = ChangeCollector(position, capture.change_rules())
        wants_messages = "m" not in settings.skipped
        told = StreamSettings(
            settings.slot, capture.publication.name, wants_messages, settings.update_s
        )
        self._stream = ReplicationStream(capture.server, told, position.commit_lsn or 0)
        if position.commit_lsn is not None:
            self._stream.confirm(position.commit_lsn)
        self._frames: deque[LogData | KeepAlive] = deque()
        self._server_lsn = 0
        self._rows_wanted = settings.batch_rows
        self._waits_for_store = False
        self._beat_at_s = self._watched_at_s = time.monotonic()

    def batch(self, limit: int) -> SourceBatch | None:
        """About so many changes, up to a commit; waits for them for a while.

        None if there was nothing.
        """
        settings = self._capture.settings
        self._rows_wanted = min(limit, settings.batch_rows)
        until_s = time.monotonic() + settings.poll_s
        while True:
            self._watch()
            self._take()
            if self._has_enough():
                return self._given()
            self._confirm_idle()
            left_s = until_s - time.monotonic()
            has_all = len(self._collector) > 0 and not self._collector.is_within
            self._frames.extend(self._stream.receive(0 if has_all else max(left_s, 0)))
            if self._frames:
                continue
            if has_all:
                return self._given()
            if left_s <= 0:
                return self._given() if self._beat_is_due() else None

    def stored(self, offset: Offset) -> None:
        """A batch is in its topics."""
        self._stored = offset
        self._waits_for_store = False
        commit_lsn = offset.get("lsn_commit")
        if isinstance(commit_lsn, int):
            self._stream.confirm(commit_lsn)

    def _take(self) -> None:
        collector = self._collector
        while self._frames:
            frame = self._frames.popleft()
            if isinstance(frame, KeepAlive):
                self._server_lsn = max(self._server_lsn, frame.end_lsn)
                continue
            collector.take(frame.lsn, decode_message(frame.payload), len(frame.payload))
            if self._has_enough():
                return

    def _has_enough(self) -> bool:
        """Whether to give what there is: all of a transaction, unless it is too large."""
        settings, collector = self._capture.settings, self._collector
        if len(collector) >= settings.rows_max or collector.size_bytes >= settings.bytes_max:
            return True
        return len(collector) >= self._rows_wanted and not collector.is_within

    def _given(self) -> SourceBatch:
        changes = self._collector.cut()
        offset: Mapping[str, object] = self._collector.offset()
        if not changes and self._stored is not None and not self._collector.has_moved:
            offset = self._stored
        records = self._capture.records.streamed(changes)
        self._waits_for_store = True
        if self._beat_is_due():
            return SourceBatch([], offset, [*records, self._heartbeat()])
        return SourceBatch([], offset, records)

    def _confirm_idle(self) -> None:
        collector = self._collector
        if not (len(collector) or collector.is_within or self._waits_for_store):
            self._stream.confirm(max(self._server_lsn, collector.commit_lsn or 0))

    def _beat_is_due(self) -> bool:
        every_s = self._capture.settings.heartbeat_s
        is_due = every_s > 0 and time.monotonic() - self._beat_at_s >= every_s
        return is_due and not self._collector.is_within

    def _heartbeat(self) -> ConnectRecord:
        self._beat_at_s = time.monotonic()
        query = self._capture.heartbeat_query
        if query:
            self._capture.server.run(self._capture.connection, query)
        return self._capture.records.heartbeat()

    def _watch(self) -> None:
        """Look at the slot now and then: what it keeps can fill the server's disk."""
        if time.monotonic() - self._watched_at_s < _WATCH_S:
            return
        self._watched_at_s = time.monotonic()
        name = self._capture.settings.slot
        state = slot_state(self._capture.server, self._capture.connection, name)
        warning = None if state is None else state.warning(name)
        if warning is not None:
            _log.warning("%s", warning)

    def close(self) -> None:
        """Tell what is stored, and hang up."""
        self._stream.close()
        _log.info(
            "slot %s stays: the server keeps the log for it until the connector goes on, or "
            "pg_drop_replication_slot drops it",
            self._capture.settings.slot,
        )
