"""A table: the latest value of each key."""

from typing import TYPE_CHECKING

from moldau.streams.functions import Expression
from moldau.streams.joins import TableJoins
from moldau.streams.nodes import nodes
from moldau.streams.nodes.graph import Handle
from moldau.streams.stream import KStream
from moldau.streams.windows import Duration, milliseconds

if TYPE_CHECKING:
    from moldau.streams.grouped import KGroupedTable


class KTable(TableJoins, Handle):
    """Changes of a table; a null value deletes its key.

    `store` names what a step makes of it, so that it can be queried.
    """

    __slots__ = ()

    def filter(
        self, predicate: Expression, *, name: str | None = None, store: str | None = None
    ) -> "KTable":
        """Keep keys for which the predicate is true; a key that no longer fits is deleted."""
        return self._filter(predicate, name, store, is_negated=False)

    def filter_not(
        self, predicate: Expression, *, name: str | None = None, store: str | None = None
    ) -> "KTable":
        """Keep keys for which the predicate is not true."""
        return self._filter(predicate, name, store, is_negated=True)

    def map_values(
        self, mapper: Expression, *, name: str | None = None, store: str | None = None
    ) -> "KTable":
        """A new value for each key."""
        node = nodes.MapValues(
            name=self.graph.name("KTABLE-MAPVALUES", name),
            parents=(self.node,),
            store=store,
            mapper=mapper,
            is_of_table=True,
        )
        return self._then(node, store)

    def to_stream(self, *, name: str | None = None) -> KStream:
        """The changes as records, deletions with null values."""
        made = self.graph.name("KTABLE-TOSTREAM", name)
        node = self.graph.add(nodes.ToStream(name=made, parents=(self.node,)))
        return KStream(self.graph, node)

    def group_by(self, mapper: Expression, *, name: str | None = None) -> "KGroupedTable":
        """Rows under new keys and values: a pair of columns, or a struct with key and value."""
        from moldau.streams.grouped import KGroupedTable  # noqa: PLC0415 - imports this module

        made = self.graph.name("KTABLE-SELECT", name)
        node = nodes.Changes(
            name=made, parents=(self.node,), mapper=mapper, store=f"{made}-STATE-STORE"
        )
        return KGroupedTable(self.graph, self.graph.add(node))

    def suppress_until_window_closes(self, *, name: str | None = None) -> "KTable":
        """Nothing but the last result of each window, when no record can change it any more."""
        if next(filter(None, map(nodes.windows_of, nodes.ancestors(self.node))), None) is None:
            raise TypeError("only tables of windows can be suppressed: others never close")
        made = self.graph.name("KTABLE-SUPPRESS", name)
        return self._then(nodes.Suppress(name=made, parents=(self.node,)))

    def suppress_until_time_limit(
        self, limit: Duration, *, max_records: int | None = None, name: str | None = None
    ) -> "KTable":
        """Of each key at most one change in so long, the last one: time is that of the records.

        The time of a key begins with its first change after the last that came through. If changes
        of more than `max_records` keys are held back, the oldest comes at once; then one task holds
        them all, so let it be few.
        """
        if max_records is not None and max_records < 1:
            raise ValueError(f"max_records is at least 1, not {max_records}")
        node = nodes.TimeLimit(
            name=self.graph.name("KTABLE-SUPPRESS", name),
            parents=(self.node,),
            limit_ms=milliseconds(limit, "the time limit", least=0),
            records_max=max_records,
        )
        return self._then(node)

    def _filter(
        self, predicate: Expression, name: str | None, store: str | None, *, is_negated: bool
    ) -> "KTable":
        node = nodes.Filter(
            name=self.graph.name("KTABLE-FILTER", name),
            parents=(self.node,),
            store=store,
            predicate=predicate,
            is_negated=is_negated,
            is_of_table=True,
        )
        return self._then(node, store)

    def _then(self, node: nodes.Node, store: str | None = None) -> "KTable":
        return type(self)(self.graph, self.graph.add_table(node, store))


class GlobalKTable(Handle):
    """A table that every task has whole, to be joined with."""

    __slots__ = ()
