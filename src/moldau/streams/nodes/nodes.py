"""The nodes of a topology: what is read, what is done with it, where it goes.

A node knows its parents and nothing of Spark. Every record that passes a node has a key, a value,
a timestamp, headers and a place; a table is the stream of its changes, in which a null value
deletes its key.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from moldau.streams.errors import OnError
from moldau.streams.functions import ColumnFunction, Expression, Folding, Summary
from moldau.streams.serdes import Serde
from moldau.streams.windows import Windows


class InternalTopic(NamedTuple):
    """A topic whose name begins with that of the application."""

    suffix: str

    def of(self, application: str) -> str:
        return f"{application}-{self.suffix}"


Topic = str | InternalTopic


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Node:
    """One step; compared by identity, since two equal filters are still two nodes."""

    # Keeps something from one record to the next; what follows runs once per micro-batch.
    is_stateful: ClassVar[bool] = False
    # Gives rows that never change again, which Spark does in a query of append mode alone.
    is_final: ClassVar[bool] = False

    name: str
    parents: tuple["Node", ...] = ()
    store: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Source(Node):
    """Reads topics; what its serdes cannot read stops the query, or is left out."""

    topics: tuple[Topic, ...]
    key: Serde
    value: Serde
    on_error: OnError = "fail"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StreamSource(Source):
    """A topic as a stream of records."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TableSource(Source):
    """A topic as the changes of a table: the latest value of a key holds, null deletes it."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GlobalTableSource(Source):
    """A topic as a table that every task has whole."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Decode(Node):
    """Bytes to typed records; what cannot be read is left out."""

    key: Serde
    value: Serde


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Filter(Node):
    """Keeps what the predicate says, or its opposite; a table deletes what it does not keep."""

    predicate: Expression
    is_negated: bool = False
    is_of_table: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Map(Node):
    """A new key and a new value."""

    mapper: Expression


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MapValues(Node):
    """A new value; a table keeps null as it is."""

    mapper: Expression
    is_of_table: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FlatMap(Node):
    """Any number of keys and values for each record."""

    mapper: Expression


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FlatMapValues(Node):
    """Any number of values for each record."""

    mapper: Expression


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SelectKey(Node):
    """A new key."""

    mapper: Expression


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Peek(Node):
    """Shows every record to a function, batch by batch."""

    action: Callable[..., None]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Split(Node):
    """Where branches begin."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Branch(Node):
    """What the predicate takes of that which none of the earlier ones took; None takes all."""

    predicate: Expression | None
    earlier: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Merge(Node):
    """Records of all parents."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Repartition(Node):
    """Spreads records by their keys over so many tasks."""

    partitions: int | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ToStream(Node):
    """The changes of a table as records."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ToTable(Node):
    """Records as the changes of a table."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Changes(Node):
    """Each change of a table as what it takes away and what it adds, under new keys and values."""

    is_stateful: ClassVar[bool] = True

    mapper: Expression


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Summarize(Node):
    """Aggregations that Spark has, by key and perhaps by window; named ones are fields.

    Of a table, each row counts by the sign that `Changes` gave it.
    """

    is_stateful: ClassVar[bool] = True

    summaries: tuple[Summary, ...]
    windows: Windows | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Fold(Node):
    """An aggregation by a Python function, record by record: the slow way."""

    is_stateful: ClassVar[bool] = True

    folding: Folding
    windows: Windows | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Suppress(Node):
    """Holds each window back until it is closed."""

    is_final: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TimeLimit(Node):
    """Holds the changes of each key back for so long, or until too many keys are held."""

    is_stateful: ClassVar[bool] = True

    limit_ms: int
    records_max: int | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sink(Node):
    """Writes to a topic, or to the one that a function names; serdes may follow from types."""

    topic: Topic | ColumnFunction
    key: Serde | None = None
    value: Serde | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DeadLetters(Sink):
    """Writes what serdes cannot read, as it came, with the reason in its headers."""

    expected_key: Serde
    expected_value: Serde


def ancestors(node: Node) -> Iterator[Node]:
    """All that a node depends on, itself first; each once."""
    seen: dict[Node, None] = {}
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen[each] = None
            yield each
            waiting.extend(each.parents)


def windows_of(node: Node) -> object | None:
    """The windows of a node of any kind that has them."""
    return getattr(node, "windows", None)
