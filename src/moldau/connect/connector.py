"""What a connector is: reads from a system into Arrow tables, or writes them there.

Connectors know neither Spark nor topics. They block; each task has a thread of its own.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

import pyarrow as pa

from moldau.connect.config.definition import PluginSetting
from moldau.connect.data.record import ConnectRecord, Outgoing

Offset = Mapping[str, object]
"""How far a partition was read, as JSON; what it holds is the connector's own matter."""
SourcePartition = Mapping[str, object]
"""What can be read by itself: a file, a table, a database."""


@dataclass(frozen=True, slots=True)
class PlacedRows:
    """Rows of a table that are one after the other in a partition, from an offset on."""

    row: int
    count: int
    offset: int


@dataclass(frozen=True, slots=True)
class CopiedRecords:
    """Records of one partition of another cluster, as bytes, for the same one of a topic.

    The table has the columns `key` and `value` (binary), `timestamp` (milliseconds) and
    `headers`. Unless the connector has converters for more than bytes, or transformations, no
    object is made per record.
    """

    topic: str
    partition: int
    table: pa.Table
    placed: Callable[[Sequence[PlacedRows]], Iterable[Outgoing]] = lambda _: ()
    """Is called before the transaction is committed, with where the rows have gone; rows that
    went elsewhere, or were left out, are missing. What it returns goes into the same
    transaction."""


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
    records: Iterable[ConnectRecord] = ()
    """Come after the tables, or in their place: values that Arrow's types cannot hold, or many
    topics with few records each. They may be made as they are taken, which is once."""
    copies: Sequence[CopiedRecords] = ()
    """Come before everything else."""
    others: Mapping[int, Offset | None] = field(default_factory=dict)
    """Offsets of readers that share the work, by their numbers, stored with this one's; None
    forgets one."""


class Source(ABC):
    """Reads from another system."""

    settings: ClassVar[Sequence[PluginSetting]] = ()
    prefixes: ClassVar[Sequence[str]] = ()
    """Of settings that belong to what the connector uses, such as clients."""
    defaults: ClassVar[Mapping[str, str]] = {}
    """Settings of the worker's part that hold unless the connector's own say something else:
    `key.converter`, `producer.override.*`; those of the worker do not count then."""
    version: ClassVar[str] = "0.1.0"
    poll_interval_s: float = 1.0
    """How long to wait when nothing new was found."""
    partitions_interval_s: float | None = None
    """How often to ask for partitions again, if there may be others: tasks then begin anew."""
    runs_anywhere: bool = False
    """Whether any process may do the next read of a partition, and several of them different
    partitions at once: nothing but the offset is remembered, and nothing is on this machine
    alone."""
    reads_only: bool = True
    """Whether reading changes nothing in the other system: only then it can be tried out."""

    def __init__(self, config: Mapping[str, str]) -> None:
        self.config = config

    @classmethod
    def problems(cls, config: Mapping[str, str]) -> Mapping[str, str]:
        """What is wrong with settings that only the other system knows, by setting; blocks."""
        del config
        return {}

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

    def measurements(self) -> Mapping[str, float]:
        """What is known of the other system, for metrics; asked often, so it does not block."""
        return {}

    def check_offset(self, partition: SourcePartition, offset: Offset | None) -> None:  # noqa: B027
        """Raise ConnectError if an offset that somebody wants to set makes no sense."""

    def close(self) -> None:  # noqa: B027 - optional
        """Give back what was opened."""


class Readers(Protocol):
    """Tasks elsewhere that read parts of what a source reads, while it waits."""

    def step(self) -> bool:
        """Have them read on for some seconds; whether there was anything left to read."""

    def close(self) -> None:
        """Give them up."""


class ReaderLender(Protocol):
    """Lends tasks that read. They store records with offsets of their own, like any task."""

    def count(self) -> int:
        """How many of them make sense."""

    def begin(
        self,
        connector: "type[Source]",
        config: Mapping[str, str],
        partitions: Sequence[SourcePartition],
    ) -> Readers:
        """A task for each of the partitions, made by `reader_partition` with 1, 2 and so on.

        Their first offsets are stored before, with one of the source itself: by these a worker
        that begins later finds tasks that may still write, and ends them.
        """


READER = "reader"


def reader_partition(partition: SourcePartition, number: int) -> SourcePartition:
    """Under which a reader that shares the work has its offset."""
    return {**partition, READER: number}


@runtime_checkable
class TakesReaders(Protocol):
    """A source whose work can be shared by other readers."""

    def use_readers(self, lender: ReaderLender) -> None:
        """Is called before anything is read, if there are any."""


@runtime_checkable
class ReadsTogether(Protocol):
    """A source that reads all partitions of a task at a time, as one connection brings them."""

    def read_together(
        self, starts: Sequence[tuple[SourcePartition, Offset | None]]
    ) -> Mapping[int, SourceBatch]:
        """What is new, by the place of the partition in `starts`; one transaction stores it.

        It waits a moment for news. The starts are the offsets of the batches before.
        """

    def is_behind(self) -> bool:
        """Whether there is more, although the last read has found nothing."""


@dataclass(frozen=True, slots=True)
class HomeCluster:
    """The cluster in whose topics records of sources are stored."""

    client: Mapping[str, object] = field(repr=False)
    """Settings of a client."""
    topics: frozenset[str]
    """The worker's own, which are not to be written to."""


@runtime_checkable
class NeedsHome(Protocol):
    """A source that has to do with the target's topics beside writing records."""

    def use_home(self, home: HomeCluster) -> None:
        """Is called before `partitions` and `read`, except where nothing is to be written."""


@runtime_checkable
class NeedsEngine(Protocol):
    """A source or a sink that works with the worker's engine, if that is what it takes it for."""

    def use_engine(self, engine: object) -> None:
        """Is called before anything is read or written; ConfigError for another engine, or None."""


class Sink(ABC):
    """Writes to another system."""

    settings: ClassVar[Sequence[PluginSetting]] = ()
    version: ClassVar[str] = "0.1.0"
    runs_anywhere: bool = True
    """Whether any process may do the next write: nothing that is needed is on this machine
    alone."""

    def __init__(self, config: Mapping[str, str]) -> None:
        self.config = config

    @abstractmethod
    def write(self, table: pa.Table, batch_id: int) -> None:
        """Store records of one schema: columns as in `SourceBatch`, and `offset`.

        Raise DataError for what can never be stored, RetriableConnectError for what may pass.
        Records come again after a failure; `batch_id` grows by one with each batch of a task.
        """

    def settle(self, *, ends: bool = False) -> bool:
        """Store what is held back, if it is time to or the work ends; False if some still is.

        Offsets are committed only while nothing is held back.
        """
        del ends
        return True

    def close(self) -> None:  # noqa: B027 - optional
        """Give back what was opened."""
