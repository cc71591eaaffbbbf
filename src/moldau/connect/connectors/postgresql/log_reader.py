"""The stream of PostgreSQL's log.

The slot gets what is stored, and nothing above that; while nothing waits to be stored, it
gets how far the server is, so that it does not keep the log of tables that are not captured.
"""

import logging
from collections.abc import Sequence

from moldau.connect.connector import Offset
from moldau.connect.connectors.capture.log_reader import ChangeLogReader
from moldau.connect.connectors.postgresql.capture import Capture
from moldau.connect.connectors.postgresql.changes import ChangeCollector
from moldau.connect.connectors.postgresql.frames import KeepAlive, LogData
from moldau.connect.connectors.postgresql.pgoutput import decode_message
from moldau.connect.connectors.postgresql.position import LogPosition
from moldau.connect.connectors.postgresql.replication import ReplicationStream, StreamSettings
from moldau.connect.connectors.postgresql.slot import slot_state

_log = logging.getLogger(__name__)


class WalReader(ChangeLogReader[LogData | KeepAlive]):
    """Reads from a position on; SlotInUseError if another one does."""

    def __init__(self, capture: Capture, position: LogPosition, start: Offset | None) -> None:
        settings = capture.settings
        self._capture = capture
        self._collector = ChangeCollector(position, capture.change_rules())
        super().__init__(settings.limits, self._collector, capture.records, start)
        wants_messages = "m" not in settings.skipped
        stream = StreamSettings(
            settings.slot, capture.publication.name, wants_messages, settings.update_s
        )
        self._stream = ReplicationStream(capture.server, stream, position.commit_lsn or 0)
        if position.commit_lsn is not None:
            self._stream.confirm(position.commit_lsn)
        self._server_lsn = 0

    def receive(self, timeout_s: float) -> Sequence[LogData | KeepAlive]:
        """What has come, or comes within a time."""
        return self._stream.receive(timeout_s)

    def take(self, frame: LogData | KeepAlive) -> None:
        """Give a frame to the collector."""
        if isinstance(frame, KeepAlive):
            self._server_lsn = max(self._server_lsn, frame.end_lsn)
            return
        self._collector.take(frame.lsn, decode_message(frame.payload), len(frame.payload))

    def stored(self, offset: Offset) -> None:
        """A batch is in its topics."""
        super().stored(offset)
        commit_lsn = offset.get("lsn_commit")
        if isinstance(commit_lsn, int):
            self._stream.confirm(commit_lsn)

    def idle(self) -> None:
        """Confirm where the server is, if nothing waits."""
        collector = self._collector
        if not (len(collector) or collector.is_within or self.waits_for_store):
            self._stream.confirm(max(self._server_lsn, collector.commit_lsn or 0))

    def beat(self) -> None:
        """Have the server do something, if that is wanted."""
        query = self._capture.heartbeat_query
        if query:
            self._capture.server.run(self._capture.connection, query)

    def watch(self) -> None:
        """Look at the slot now and then: what it keeps can fill the server's disk."""
        name = self._capture.settings.slot
        state = slot_state(self._capture.server, self._capture.connection, name)
        self.measurements = {} if state is None else state.measurements()
        warning = None if state is None else state.warning(name)
        if warning is not None:
            _log.warning("%s", warning)

    def close(self) -> None:
        """Confirm what is stored, and hang up."""
        self._stream.close()
        _log.info(
            "slot %s stays: the server keeps the log for it until the connector goes on, or "
            "pg_drop_replication_slot drops it",
            self._capture.settings.slot,
        )
