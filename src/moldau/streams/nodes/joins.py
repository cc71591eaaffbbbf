"""The nodes of joins; the first parent is the left side."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from moldau.streams.functions import Expression, Vectorized
from moldau.streams.join_windows import JoinWindows
from moldau.streams.nodes.nodes import Node

if TYPE_CHECKING:
    from pyspark.sql import Column

# SQL over `key`, `left` and `right`, or a function of the columns left and right (with three
# parameters: key, left and right), or a vectorized function of left and right.
Joiner = str | Callable[..., "Column"] | Vectorized
# Inner wants both sides, left gives null for what the right has not, outer for either.
Kind = Literal["inner", "left", "outer"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Join(Node):
    """Two sides become one value."""

    joiner: Joiner
    kind: Kind


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StreamJoin(Join):
    """Records of two streams that are not too far apart in time."""

    is_stateful: ClassVar[bool] = True
    # A record without a partner is emitted when none can come any more: in append mode alone.
    is_final: ClassVar[bool] = True

    windows: JoinWindows


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StreamTableJoin(Join):
    """Each record of a stream with what the table has for its key just then."""

    is_stateful: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TableJoin(Join):
    """A table of what two tables have for the same key."""

    is_stateful: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ForeignKeyJoin(Join):
    """A table with, for each row, the row of another table whose key it names."""

    is_stateful: ClassVar[bool] = True

    foreign_key: Expression


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GlobalJoin(Join):
    """Each record of a stream with the row of a global table whose key it names."""

    lookup: Expression
