"""What clients saw: every write, read, transaction and commit, in the order of happening."""

import math
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple


class Outcome(Enum):
    """What a client knows of what it asked for."""

    UNKNOWN = auto()
    """No answer, or one that leaves it open: it may have happened, or may happen yet."""
    DONE = auto()
    REFUSED = auto()


@dataclass(slots=True)
class Write:
    """A batch of records that a producer sent, perhaps several times."""

    producer: str
    partition: int
    values: list[str]
    transaction: str | None = None
    outcome: Outcome = Outcome.UNKNOWN
    base_offset: int = -1


@dataclass(slots=True)
class Transaction:
    """Some writes that happen together or not at all."""

    name: str
    is_commit: bool
    """What its producer asked for in the end."""
    outcome: Outcome = Outcome.UNKNOWN
    committed_offset: int | None = None
    """The offset of the transaction's own group that goes with it."""


@dataclass(slots=True)
class Read:
    """A record that a consumer got."""

    reader: str
    partition: int
    offset: int
    value: str
    is_committed_only: bool


@dataclass(slots=True)
class Commit:
    """An offset that a consumer committed; each of a group is greater than the one before."""

    group: str
    offset: int
    outcome: Outcome = Outcome.UNKNOWN


@dataclass(slots=True)
class Committed:
    """An offset that was asked for, and what was certain when it was asked."""

    group: str
    offset: int
    done_before: int
    """The greatest offset whose commit was acknowledged before the question."""
    asked_after: int
    """The greatest offset that anybody had tried to commit before the answer."""


@dataclass(slots=True)
class Joined:
    """A member's place in a generation of its group."""

    group: str
    member: str
    generation: int
    assigned: list[int]


@dataclass(slots=True)
class Owned:
    """For how long a member had a partition for certain."""

    member: str
    partition: int
    from_s: float
    until_s: float = math.inf


@dataclass(slots=True)
class Incarnation:
    """A topic from its creation to its deletion; another one may follow under its name."""

    name: str
    topic_id: bytes
    partition_count: int = 1
    written: dict[int, list[str]] = field(default_factory=dict)
    """All of it was acknowledged before anything was read."""
    read: dict[int, list[str]] = field(default_factory=dict)
    is_deleted: bool = False


class Leadership(NamedTuple):
    """Who leads a partition, as it was written to the tree."""

    partition: str
    epoch: int
    leader: int


class Batch(NamedTuple):
    """A batch in the log of a broker."""

    base_offset: int
    next_offset: int
    leader_epoch: int
    checksum: int
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1


class KeyedRecord(NamedTuple):
    """A record of the compacted topic."""

    offset: int
    key: str
    value: str


@dataclass(slots=True)
class History:
    """All of it."""

    writes: list[Write] = field(default_factory=list)
    transactions: dict[str, Transaction] = field(default_factory=dict)
    reads: list[Read] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    committed: list[Committed] = field(default_factory=list)
    joined: list[Joined] = field(default_factory=list)
    producer_ids: list[tuple[str, int]] = field(default_factory=list)
    """Which producer got which id; a producer with a transactional id may get its own again."""
    owned: list[Owned] = field(default_factory=list)
    incarnations: list[Incarnation] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)
    denied_count: int = 0
    """How often somebody without rights was told so."""
    """Answers that a correct broker never gives."""
    leaderships: list[Leadership] = field(default_factory=list)
    creations: dict[str, int] = field(default_factory=dict)
    """How often each partition was made: its epochs begin anew each time."""
    assignments: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    """The replicas of partitions of a topic, whenever they were set."""
    controller_epochs: list[int] = field(default_factory=list)
    replicas: dict[str, dict[int, list[Batch]]] = field(default_factory=dict)
    """After all faults: the logs of each partition, by broker."""
    table_writes: list[tuple[Write, list[str]]] = field(default_factory=list)
    """Writes to the compacted topic, with the keys of their records."""
    tables: dict[int, list[KeyedRecord]] = field(default_factory=dict)
    """After all faults: what is left in the compacted log, by broker."""
    is_complete: bool = False
    """Whether the world came to the end that everything below was read at."""
    final: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    """After all faults: every record of a partition, with its offset."""
    final_committed: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    """Likewise, as readers of committed records see it."""
    final_group_offsets: dict[str, int] = field(default_factory=dict)

    @property
    def acknowledged_count(self) -> int:
        """How many records were acknowledged."""
        return sum(len(write.values) for write in self.writes if write.outcome is Outcome.DONE)
