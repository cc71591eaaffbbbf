"""Changes of PostgreSQL's tables into topics, with the settings of Debezium's connector.

States of a reader: fresh, reading the tables, streaming, finished (`initial_only`). It goes from
one to the next, and never back: after a failure the worker makes another one.
"""

import logging
import threading
import time
from collections.abc import Mapping, Sequence

from moldau.connect.connector import Offset, Source, SourceBatch, SourcePartition
from moldau.connect.connectors.capture.filters import CaptureFilters
from moldau.connect.connectors.postgresql.capture import Capture
from moldau.connect.connectors.postgresql.log_reader import WalReader
from moldau.connect.connectors.postgresql.position import stored_offset
from moldau.connect.connectors.postgresql.replication import SlotInUseError
from moldau.connect.connectors.postgresql.settings import (
    POSTGRES_SETTINGS,
    log_ignored,
    refused_settings,
)
from moldau.connect.connectors.postgresql.start import CaptureStart, begin_capture
from moldau.connect.connectors.postgresql.validation import server_problem
from moldau.connect.errors import ConfigError, ConnectError, RetriableConnectError

_log = logging.getLogger(__name__)


class PostgresSource(Source):
    """One database is one partition, read by one task."""

    settings = POSTGRES_SETTINGS
    poll_interval_s = 0.0  # `read` waits for the server itself
    reads_only = False  # it makes a slot and a publication

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._capture: Capture | None = None
        self._start: CaptureStart | None = None
        self._reader: WalReader | None = None
        self._attempts, self._attempt_at_s = 0, 0.0

    @classmethod
    def problems(cls, config: Mapping[str, str]) -> Mapping[str, str]:
        """Asks the server, as Debezium's validation does."""
        refused = refused_settings(config)
        if refused:
            return refused
        try:
            CaptureFilters(config)
        except ConfigError as error:
            # It begins with the setting.
            name = str(error).partition(" ")[0].rstrip(":")
            return {name: f"The '{name}' value is invalid: {error}"}
        problem = server_problem(config)
        return {} if problem is None else {"database.hostname": problem}

    def partitions(self) -> Sequence[SourcePartition]:
        """As Debezium names it in offsets."""
        return [{"server": self.config["topic.prefix"]}]

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        """Rows of tables first, then changes."""
        del partition  # there is one
        if self._start is None:
            log_ignored(self.config)
            self._capture = Capture(self.config)
            self._start = begin_capture(self._capture, start)
        assert self._capture is not None, "made before the start"
        first = self._start.read
        if first is not None and not first.is_complete:
            return first.batch(limit)
        if not self._start.streams:
            self._wait(self._capture.settings.limits.poll_s)
            return None
        if self._reader is None and not self._open(self._capture, start):
            return None
        assert self._reader is not None, "opened"
        return self._reader.batch(limit)

    def commit(self, partition: SourcePartition, offset: Offset) -> None:
        """Let the server throw the log away up to here."""
        del partition
        if self._reader is not None:
            self._reader.stored(offset)

    def check_offset(self, partition: SourcePartition, offset: Offset | None) -> None:
        """Of this connector, or of Debezium's."""
        if dict(partition) != dict(self.partitions()[0]):
            raise ConnectError(f"the only partition is {dict(self.partitions()[0])}")
        if offset is not None:
            stored_offset(offset)

    def close(self) -> None:
        """Hang up everything; the slot stays."""
        if self._reader is not None:
            self._reader.close()
        if self._start is not None and self._start.read is not None:
            self._start.read.close()
        if self._capture is not None:
            self._capture.close()

    def _open(self, capture: Capture, start: Offset | None) -> bool:
        """Whether the stream is open: another reader of the slot may be about to leave it."""
        settings = capture.settings
        left_s = self._attempt_at_s - time.monotonic()
        if left_s > 0:
            self._wait(min(left_s, settings.limits.poll_s))
            return False
        assert self._start is not None, "made before the stream"
        try:
            self._reader = WalReader(capture, self._start.position, start)
        except SlotInUseError as error:
            self._attempts += 1
            if self._attempts > settings.retries_max:
                raise RetriableConnectError(
                    f"{error}: another connector or replica reads slot {settings.slot}; stop "
                    "it, or give this connector a slot.name of its own"
                ) from error
            self._attempt_at_s = time.monotonic() + settings.retry_s
            _log.warning(
                "%s; attempt %d of %d in %g s",
                *(error, self._attempts, settings.retries_max, settings.retry_s),
            )
            return False
        return True

    def _wait(self, wait_s: float) -> None:
        threading.Event().wait(wait_s)
