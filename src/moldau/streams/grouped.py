"""Grouped streams and tables: how groups become tables."""

from collections.abc import Callable
from typing import NoReturn

from moldau.streams.functions import Expression, Folding, PythonFunction, Summary
from moldau.streams.nodes import nodes
from moldau.streams.nodes.graph import Graph, Handle
from moldau.streams.table import KTable
from moldau.streams.windows import SessionWindows, SlidingWindows, Windows

_VALUE = "value"


class Grouped(Handle):
    """Records by key, and perhaps by window.

    `store` names a table, so that it is also written to a changelog topic of the application, from
    which it can be queried.
    """

    __slots__ = ("kind", "windows")

    def __init__(
        self, graph: Graph, node: nodes.Node, kind: str, windows: Windows | None = None
    ) -> None:
        super().__init__(graph, node)
        self.kind = kind
        self.windows = windows

    def count(self, *, store: str | None = None) -> KTable:
        """How many records there are; null keys and null values are not counted."""
        return self._summarize((Summary("count"),), store)

    def sum(self, of: Expression = _VALUE, *, store: str | None = None) -> KTable:
        """The sum of an expression."""
        return self._summarize((Summary("sum", of),), store)

    def _summarize(self, summaries: tuple[Summary, ...], store: str | None) -> KTable:
        if isinstance(self.windows, SlidingWindows):
            raise TypeError("sliding windows are aggregated by reduce, aggregate or count")
        made = self.graph.name(f"{self.kind}-AGGREGATE")
        node = nodes.Summarize(
            name=made,
            parents=(self.node,),
            store=store or self.graph.name(f"{self.kind}-AGGREGATE-STATE-STORE"),
            summaries=summaries,
            windows=self.windows,
        )
        return KTable(self.graph, self.graph.add_table(node, store))

    def _fold(self, folding: Folding, store: str | None) -> KTable:
        if isinstance(self.windows, SessionWindows) and folding.merge is None:
            raise ValueError("sessions may grow together: say how by merge=")
        kind = "REDUCE" if folding.initial is None else "AGGREGATE"
        node = nodes.Fold(
            name=self.graph.name(f"{self.kind}-{kind}"),
            parents=(self.node,),
            store=store or self.graph.name(f"{self.kind}-{kind}-STATE-STORE"),
            folding=folding,
            windows=self.windows,
        )
        return KTable(self.graph, self.graph.add_table(node, store))


class KGroupedStream(Grouped):
    """Records of a stream by key."""

    __slots__ = ()

    def __init__(self, graph: Graph, node: nodes.Node, windows: Windows | None = None) -> None:
        super().__init__(graph, node, "KSTREAM", windows)

    def windowed_by(self, windows: Windows) -> "KGroupedStream":
        """By key and window: keys become structs of `key` and `window` (`start`, `end`)."""
        return KGroupedStream(self.graph, self.node, windows)

    def count(self, *, store: str | None = None) -> KTable:
        """How many records there are; null keys and null values are not counted."""
        if isinstance(self.windows, SlidingWindows):
            return self._fold(_COUNTING, store)
        return super().count(store=store)

    def min(self, of: Expression = _VALUE, *, store: str | None = None) -> KTable:
        """The least of an expression."""
        return self._summarize((Summary("min", of),), store)

    def max(self, of: Expression = _VALUE, *, store: str | None = None) -> KTable:
        """The greatest of an expression."""
        return self._summarize((Summary("max", of),), store)

    def average(self, of: Expression = _VALUE, *, store: str | None = None) -> KTable:
        """The mean of an expression."""
        return self._summarize((Summary("avg", of),), store)

    def summarize(self, *, store: str | None = None, **columns: Expression) -> KTable:
        """Several aggregations as a struct: `summarize(n="count(*)", top="max(value)")`."""
        if not columns:
            raise ValueError("name at least one aggregation: summarize(n='count(*)')")
        summaries = tuple(Summary("column", of, name) for name, of in columns.items())
        return self._summarize(summaries, store)

    def reduce(self, reducer: PythonFunction, *, store: str | None = None) -> KTable:
        """Combine values by a Python function, record by record: `reducer(aggregate, value)`."""

        def add(_key: object, value: object, aggregate: object) -> object:
            return reducer(aggregate, value)

        def merge(_key: object, one: object, other: object) -> object:
            return reducer(one, other)

        return self._fold(Folding(add, merge=merge), store)

    def aggregate(
        self,
        initializer: Callable[[], object],
        aggregator: PythonFunction,
        *,
        returns: str,
        merger: PythonFunction | None = None,
        store: str | None = None,
    ) -> KTable:
        """Build values by a Python function: `aggregator(key, value, aggregate)`.

        `returns` is the type of the aggregate as in SQL. Sessions need `merger(key, one, other)`.
        """
        folding = Folding(aggregator, initial=initializer, merge=merger, returns=returns)
        return self._fold(folding, store)


class KGroupedTable(Grouped):
    """Rows of a table under new keys: what changes is first taken away, then added."""

    __slots__ = ()

    def __init__(self, graph: Graph, node: nodes.Node) -> None:
        super().__init__(graph, node, "KTABLE")

    def reduce(
        self, adder: PythonFunction, subtractor: PythonFunction, *, store: str | None = None
    ) -> KTable:
        """Combine values by Python functions: `adder(aggregate, value)`, and the way back."""

        def add(_key: object, value: object, aggregate: object) -> object:
            return adder(aggregate, value)

        def subtract(_key: object, value: object, aggregate: object) -> object:
            return subtractor(aggregate, value)

        return self._fold(Folding(add, subtract=subtract), store)

    def aggregate(
        self,
        initializer: Callable[[], object],
        adder: PythonFunction,
        subtractor: PythonFunction,
        *,
        returns: str,
        store: str | None = None,
    ) -> KTable:
        """Build values by Python functions: `adder(key, value, aggregate)`, and the way back."""
        folding = Folding(adder, initial=initializer, subtract=subtractor, returns=returns)
        return self._fold(folding, store)

    def __getattr__(self, name: str) -> NoReturn:
        if name == "windowed_by":
            raise TypeError(
                "rows of a table have no windows: each counts for as long as it is there. "
                "to_stream().group_by(...).windowed_by(...) counts its changes by time"
            )
        if name in ("min", "max", "average", "summarize"):
            raise TypeError(
                f"{name} cannot take a row away again, which a table needs when it changes: there "
                "are count and sum, and aggregate(..., adder, subtractor)"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _count_one(_key: object, _value: object, count: object) -> object:
    assert isinstance(count, int)
    return count + 1


_COUNTING = Folding(_count_one, initial=int, returns="bigint")
