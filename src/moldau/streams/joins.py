"""Joins, as methods of streams and tables."""

from typing import TYPE_CHECKING, Self

from moldau.streams.functions import Expression
from moldau.streams.join_windows import JoinWindows
from moldau.streams.nodes.graph import Handle
from moldau.streams.nodes.joins import (
    ForeignKeyJoin,
    GlobalJoin,
    Joiner,
    Kind,
    StreamJoin,
    StreamTableJoin,
    TableJoin,
)

if TYPE_CHECKING:
    from moldau.streams.stream import KStream
    from moldau.streams.table import GlobalKTable, KTable

_NAMES = {"inner": "JOIN", "left": "LEFTJOIN", "outer": "OUTERJOIN"}


class StreamJoins(Handle):
    """What a stream can be joined with: a stream, a table, a global table.

    The joiner makes the new value of `left` and `right`: SQL, or a function of columns.
    """

    __slots__ = ()

    def join(
        self,
        other: "KStream | KTable | GlobalKTable",
        joiner: Joiner,
        within: JoinWindows | None = None,
        *,
        lookup: Expression | None = None,
        name: str | None = None,
    ) -> Self:
        """Only records that find a partner.

        A stream is joined `within` a window. Of a table, the row of the record's key counts; of a
        global table, the row whose key the expression `lookup` gives.
        """
        return self._joined("inner", (other, joiner), within, lookup, name)

    def left_join(
        self,
        other: "KStream | KTable | GlobalKTable",
        joiner: Joiner,
        within: JoinWindows | None = None,
        *,
        lookup: Expression | None = None,
        name: str | None = None,
    ) -> Self:
        """All records of this stream; `right` is null for those without a partner."""
        return self._joined("left", (other, joiner), within, lookup, name)

    def outer_join(
        self,
        other: "KStream",
        joiner: Joiner,
        within: JoinWindows,
        *,
        name: str | None = None,
    ) -> Self:
        """All records of both streams; `left` or `right` is null without a partner."""
        return self._joined("outer", (other, joiner), within, None, name)

    def _joined(
        self,
        kind: Kind,
        other_and_joiner: "tuple[KStream | KTable | GlobalKTable, Joiner]",
        within: JoinWindows | None,
        lookup: Expression | None,
        name: str | None,
    ) -> Self:
        from moldau.streams.table import GlobalKTable, KTable  # noqa: PLC0415 - imports this

        other, joiner = other_and_joiner
        made = self.graph.name(f"KSTREAM-{_NAMES[kind]}", name)
        parents = (self.node, other.node)
        node: StreamJoin | StreamTableJoin | GlobalJoin
        match other:
            case KTable():
                _refuse(within, "within", "a table has no time: leave `within` out")
                _refuse(lookup, "lookup", "a table is joined by its key: leave `lookup` out")
                node = StreamTableJoin(
                    name=made, parents=parents, joiner=joiner, kind=kind, store=f"{made}-STORE"
                )
            case GlobalKTable():
                _refuse(within, "within", "a table has no time: leave `within` out")
                if lookup is None:
                    raise ValueError("say by lookup= which key of the global table is meant")
                node = GlobalJoin(
                    name=made, parents=parents, joiner=joiner, kind=kind, lookup=lookup
                )
            case _:
                _refuse(lookup, "lookup", "streams are joined by their keys: leave `lookup` out")
                if within is None:
                    raise ValueError("say by within= how far apart records of streams may be")
                node = StreamJoin(
                    name=made,
                    parents=parents,
                    joiner=joiner,
                    kind=kind,
                    windows=within,
                    store=f"{made}-STORE",
                )
        return type(self)(self.graph, self.graph.add(node))


class TableJoins(Handle):
    """What a table can be joined with: another table, by its key or by a foreign key."""

    __slots__ = ()

    def join(
        self,
        other: "KTable",
        joiner: Joiner,
        *,
        foreign_key: Expression | None = None,
        name: str | None = None,
        store: str | None = None,
    ) -> Self:
        """Rows that both tables have.

        With `foreign_key`, an expression of this table's key and value, a row of this table is
        joined with the row of the other one that has this key. With a store, the result can be
        queried.
        """
        return self._joined("inner", other, joiner, foreign_key, (name, store))

    def left_join(
        self,
        other: "KTable",
        joiner: Joiner,
        *,
        foreign_key: Expression | None = None,
        name: str | None = None,
        store: str | None = None,
    ) -> Self:
        """All rows of this table; `right` is null for those that the other one has not."""
        return self._joined("left", other, joiner, foreign_key, (name, store))

    def outer_join(
        self,
        other: "KTable",
        joiner: Joiner,
        *,
        name: str | None = None,
        store: str | None = None,
    ) -> Self:
        """Rows that at least one of the tables has."""
        return self._joined("outer", other, joiner, None, (name, store))

    def _joined(
        self,
        kind: Kind,
        other: "KTable",
        joiner: Joiner,
        foreign_key: Expression | None,
        name_and_store: tuple[str | None, str | None],
    ) -> Self:
        name, store = name_and_store
        is_foreign = foreign_key is not None
        made = self.graph.name(f"KTABLE-{'FK-' * is_foreign}{_NAMES[kind]}", name)
        parents, kept = (self.node, other.node), store or f"{made}-STORE"
        node: TableJoin | ForeignKeyJoin
        if foreign_key is None:
            node = TableJoin(name=made, parents=parents, joiner=joiner, kind=kind, store=kept)
        else:
            node = ForeignKeyJoin(
                name=made,
                parents=parents,
                joiner=joiner,
                kind=kind,
                foreign_key=foreign_key,
                store=kept,
            )
        return type(self)(self.graph, self.graph.add_table(node, store))


def _refuse(given: object, name: str, why: str) -> None:
    if given is not None:
        raise ValueError(f"{name}={given!r}: {why}")
