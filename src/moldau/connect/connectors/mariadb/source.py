"""Changes of MariaDB's and MySQL's tables into topics, with the settings of Debezium's."""

from collections.abc import Mapping
from typing import ClassVar

from moldau.connect.connector import Offset
from moldau.connect.connectors.capture.source import CaptureSource, FirstRead
from moldau.connect.connectors.mariadb.capture import BinlogCapture
from moldau.connect.connectors.mariadb.log_reader import BinlogReader
from moldau.connect.connectors.mariadb.position import stored_offset
from moldau.connect.connectors.mariadb.settings import (
    BINLOG_SETTINGS,
    log_ignored,
    refused_settings,
)
from moldau.connect.connectors.mariadb.start import BinlogStart, begin_capture
from moldau.connect.connectors.mariadb.validation import server_problem


class MariaDbSource(CaptureSource):
    """One server is one partition."""

    settings = BINLOG_SETTINGS
    tables_are_in = "database"
    connector: ClassVar[str] = "mariadb"
    """The word for it in records."""

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._capture: BinlogCapture | None = None
        self._start: BinlogStart | None = None

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
        self._capture = BinlogCapture(self.config, self.connector)
        self._start = begin_capture(self._capture, start)
        return self._start.read, self._start.streams

    def open(self, start: Offset | None) -> BinlogReader:
        """The stream."""
        assert self._capture is not None, "made before the stream"
        assert self._start is not None, "made before the stream"
        return BinlogReader(self._capture, self._start.position, start)

    def check(self, offset: Offset) -> None:
        """ConnectError if it is none of this connector's, or of Debezium's."""
        stored_offset(offset)

    def close(self) -> None:
        """Hang up everything."""
        super().close()
        if self._capture is not None:
            self._capture.close()


class MySqlSource(MariaDbSource):
    """The same under MySQL's name."""

    connector = "mysql"
