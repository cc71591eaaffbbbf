"""The stream of the log of rows; its place is stored also while no captured table changes.

Otherwise a connector whose tables rest for days would go on at a place that the server has thrown
away since.
"""

import logging
import time
from collections.abc import Sequence

from moldau.connect.connector import Offset
from moldau.connect.connectors.capture.log_reader import ChangeLogReader
from moldau.connect.connectors.mariadb.capture import BinlogCapture
from moldau.connect.connectors.mariadb.changes import BinlogCollector
from moldau.connect.connectors.mariadb.events import Idle, LogEvent
from moldau.connect.connectors.mariadb.position import BinlogPosition
from moldau.connect.connectors.mariadb.stream import BinlogStream

_log = logging.getLogger(__name__)

_STORED_EVERY_S = 30.0
_WARNED_S = 60


class BinlogReader(ChangeLogReader[LogEvent]):
    """Reads from a position on."""

    def __init__(
        self, capture: BinlogCapture, position: BinlogPosition, start: Offset | None
    ) -> None:
        self._capture = capture
        self._collector = BinlogCollector(position, capture.change_rules())
        super().__init__(capture.settings.limits, self._collector, capture.records, start)
        self._stream = BinlogStream(capture.server, position, capture.settings.limits.poll_s)
        # Where the stream began is noted at once, if it was not.
        self._noted = position if start is not None else None
        self._noted_at_s = time.monotonic()
        self._is_behind = True

    def receive(self, timeout_s: float) -> Sequence[LogEvent]:
        """What has come, or comes within a time."""
        return self._stream.receive(timeout_s)

    def take(self, frame: LogEvent) -> None:
        """Give an event to the collector."""
        self._is_behind = not isinstance(frame, Idle)
        self._collector.take(frame)

    def is_due(self) -> bool:
        """Whether the log has gone on for a while without changes."""
        if self.waits_for_store or self._collector.is_within:
            return False
        if self._noted is None:
            return True
        is_old = time.monotonic() - self._noted_at_s >= _STORED_EVERY_S
        return is_old and self._collector.position != self._noted

    def stored(self, offset: Offset) -> None:
        """A batch is in its topics."""
        super().stored(offset)
        self._noted, self._noted_at_s = self._collector.position, time.monotonic()

    def beat(self) -> None:
        """Have the server do something, if that is wanted."""
        query = self._capture.heartbeat_query
        if query:
            self._capture.server.run(self._capture.connection, query)

    def watch(self) -> None:
        """Log how far behind the connector is, if it is."""
        behind_s = int(time.time()) - self._collector.time_s
        if not self._is_behind or not self._collector.time_s:
            behind_s = 0
        self.measurements = {"log_behind_seconds": max(behind_s, 0)}
        if behind_s > _WARNED_S:
            _log.warning(
                "the connector is %d s behind the log of MariaDB at %s, at %s:%d",
                *(behind_s, self._capture.server.name),
                *(self._collector.position.file, self._collector.position.pos),
            )

    def close(self) -> None:
        """Hang up."""
        self._stream.close()
