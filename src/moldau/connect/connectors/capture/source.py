"""Changes of a database's tables into topics: what the connectors for it share.

States of a reader: fresh, reading the tables, streaming, finished (`initial_only`). It goes from
one to the next, and never back: after a failure the worker makes another one.
"""

import threading
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from moldau.connect.connector import Offset, Source, SourceBatch, SourcePartition
from moldau.connect.connectors.capture.filters import CaptureFilters
from moldau.connect.connectors.capture.settings import batch_limits
from moldau.connect.errors import ConfigError, ConnectError


class FirstRead(Protocol):
    """The rows of the tables."""

    is_complete: bool

    def batch(self, limit: int) -> SourceBatch | None:
        """The next rows, so many at most; the last batch says that it is.

        None if others have read meanwhile.
        """

    def close(self) -> None:
        """Give up."""


class StreamedChanges(Protocol):
    """The changes after it."""

    measurements: Mapping[str, float]

    def batch(self, limit: int) -> SourceBatch | None:
        """About so many changes; None if there was nothing."""

    def stored(self, offset: Offset) -> None:
        """A batch is in its topics."""

    def close(self) -> None:
        """Hang up."""


class CaptureSource(Source):
    """One partition, read by one task."""

    poll_interval_s = 0.0  # `read` waits for the server itself
    tables_are_in: ClassVar[str] = "schema"

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._has_begun = False
        self._first: FirstRead | None = None
        self._streams = False
        self._reader: StreamedChanges | None = None

    @classmethod
    @abstractmethod
    def refused(cls, config: Mapping[str, str]) -> Mapping[str, str]:
        """Settings that are not here, and why."""

    @classmethod
    @abstractmethod
    def server_problem(cls, config: Mapping[str, str]) -> str | None:
        """What only the server knows of settings; None if the connector can work."""

    @abstractmethod
    def begin(self, start: Offset | None) -> tuple[FirstRead | None, bool]:
        """What comes first, and whether a stream follows."""

    @abstractmethod
    def open(self, start: Offset | None) -> StreamedChanges | None:
        """The stream; None if it cannot be opened yet."""

    @abstractmethod
    def check(self, offset: Offset) -> None:
        """ConnectError if it is none of this connector's."""

    @classmethod
    def problems(cls, config: Mapping[str, str]) -> Mapping[str, str]:
        """Asks the server, as Debezium's validation does."""
        refused = cls.refused(config)
        if refused:
            return refused
        try:
            CaptureFilters(config, cls.tables_are_in)
        except ConfigError as error:
            # It begins with the setting.
            name = str(error).partition(" ")[0].rstrip(":")
            return {name: f"The '{name}' value is invalid: {error}"}
        problem = cls.server_problem(config)
        if problem is None:
            return {}
        name = "database.hostname"
        text = f"The '{name}' value is invalid: Error while validating connector config: {problem}"
        return {name: text}

    def partitions(self) -> Sequence[SourcePartition]:
        """As Debezium names it in offsets."""
        return [{"server": self.config["topic.prefix"]}]

    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        """Rows of tables first, then changes."""
        del partition  # there is one
        if not self._has_begun:
            self._first, self._streams = self.begin(start)
            self._has_begun = True
        if self._first is not None and not self._first.is_complete:
            return self._first.batch(limit)
        if not self._streams:
            self.wait(batch_limits(self.config).poll_s)
            return None
        if self._reader is None:
            self._reader = self.open(start)
        return None if self._reader is None else self._reader.batch(limit)

    def commit(self, partition: SourcePartition, offset: Offset) -> None:
        """What was given is stored up to here."""
        del partition
        if self._reader is not None:
            self._reader.stored(offset)

    def measurements(self) -> Mapping[str, float]:
        """Of the server's log."""
        return {} if self._reader is None else self._reader.measurements

    def check_offset(self, partition: SourcePartition, offset: Offset | None) -> None:
        """Of this connector, or of Debezium's."""
        if dict(partition) != dict(self.partitions()[0]):
            raise ConnectError(f"the only partition is {dict(self.partitions()[0])}")
        if offset is not None:
            self.check(offset)

    def close(self) -> None:
        """Hang up everything."""
        if self._reader is not None:
            self._reader.close()
        if self._first is not None:
            self._first.close()

    def wait(self, wait_s: float) -> None:
        """As long as that."""
        threading.Event().wait(wait_s)
