"""What a connector is: reads from a system into Arrow tables, or writes them there.

Connectors know neither Spark nor topics. They block; each task has a thread of its own.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from moldau.connect.config.definition import PluginSetting

Offset = Mapping[str, object]
"""How far a partition was read, as JSON; what it holds is the connector's own matter."""
SourcePartition = Mapping[str, object]
"""What can be read by itself: a file, a table, a database."""


@dataclass(frozen=True, slots=True)
class SourceBatch:
    """What was read at once: it becomes visible in the topics as a whole, or not at all.

    Tables have the columns `value`, `key`, `topic`, `partition`, `timestamp` (milliseconds) and
    `headers`; only a value or a key is needed, and `topic` unless the connector has the setting
    `topic`.
    """

    tables: Sequence[pa.Table]
    offset: Offset
    """Where the next read begins."""


class Source(ABC):
    """Reads from another system."""

    settings: ClassVar[Sequence[PluginSetting]] = ()
    version: ClassVar[str] = "0.1.0"
    poll_interval_s: float = 1.0
    """How long to wait when nothing new was found."""

    def __init__(self, config: Mapping[str, str]) -> None:
        self.config = config

    @abstractmethod
    def partitions(self) -> Sequence[SourcePartition]:
        """What there is to read; tasks share it."""

    @abstractmethod
    def read(
        self, partition: SourcePartition, start: Offset | None, limit: int
    ) -> SourceBatch | None:
        """About `limit` records from an offset on; None if there is nothing new.

        The same start gives the same records as long as the system still has them: what was read
        and not stored is read again.
        """

    def commit(self, partition: SourcePartition, offset: Offset) -> None:  # noqa: B027 - optional
        """Everything before this offset is stored in topics."""

    def check_offset(self, partition: SourcePartition, offset: Offset | None) -> None:  # noqa: B027
        """Raise ConnectError if an offset that somebody wants to set makes no sense."""

    def close(self) -> None:  # noqa: B027 - optional
        """Give back what was opened."""


class Sink(ABC):
    """Writes to another system."""

    settings: ClassVar[Sequence[PluginSetting]] = ()
    version: ClassVar[str] = "0.1.0"

    def __init__(self, config: Mapping[str, str]) -> None:
        self.config = config

    @abstractmethod
    def write(self, table: pa.Table, batch_id: int) -> None:
        """Store records of one schema: columns as in `SourceBatch`, and `offset`.

        Raise DataError for what can never be stored, RetriableConnectError for what may pass.
        Records come again after a failure; `batch_id` grows by one with each batch of a task.
        """

    def close(self) -> None:  # noqa: B027 - optional
        """Give back what was opened."""
