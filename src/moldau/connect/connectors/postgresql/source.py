"""Changes of PostgreSQL's tables into topics, with the settings of Debezium's connector."""

import logging
import time
from collections.abc import Mapping

from moldau.connect.connector import Offset, ReaderLender
from moldau.connect.connectors.capture.source import CaptureSource, FirstRead
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
from moldau.connect.errors import RetriableConnectError

_log = logging.getLogger(__name__)


class PostgresSource(CaptureSource):
    """One database is one partition; the slot stays when the source is closed."""

    settings = POSTGRES_SETTINGS
    reads_only = False  # it makes a slot and a publication

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._capture: Capture | None = None
        self._start: CaptureStart | None = None
        self._attempts, self._attempt_at_s = 0, 0.0
        self._lender: ReaderLender | None = None

    @classmethod
    def refused(cls, config: Mapping[str, str]) -> Mapping[str, str]:
        """Settings that are not here, and why."""
        return refused_settings(config)

    @classmethod
    def server_problem(cls, config: Mapping[str, str]) -> str | None:
        """What only the server knows of settings."""
        return server_problem(config)

    def begin(self, start: Offset | None) -> tuple[FirstRead | None, bool]:
        """The tables, or nothing, before the stream."""
        log_ignored(self.config)
        self._capture = Capture(self.config)
        self._start = begin_capture(self._capture, start, self._lender)
        return self._start.read, self._start.streams

    def use_readers(self, lender: ReaderLender) -> None:
        """They read parts of tables."""
        self._lender = lender

    def check(self, offset: Offset) -> None:
        """ConnectError if it is none of this connector's, or of Debezium's."""
        stored_offset(offset)

    def close(self) -> None:
        """Hang up everything; the slot stays."""
        super().close()
        if self._capture is not None:
            self._capture.close()

    def open(self, start: Offset | None) -> WalReader | None:
        """The stream, unless another reader of the slot has to leave it first."""
        assert self._capture is not None, "made before the stream"
        assert self._start is not None, "made before the stream"
        settings = self._capture.settings
        left_s = self._attempt_at_s - time.monotonic()
        if left_s > 0:
            self.wait(min(left_s, settings.limits.poll_s))
            return None
        try:
            return WalReader(self._capture, self._start.position, start)
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
            return None
