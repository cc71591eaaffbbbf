"""A stream of records: what can be done with it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from moldau.streams.functions import ColumnFunction, Expression
from moldau.streams.joins import StreamJoins
from moldau.streams.nodes import nodes
from moldau.streams.nodes.graph import Handle
from moldau.streams.nodes.processors import Process
from moldau.streams.processors import Processor
from moldau.streams.serdes import Serde

if TYPE_CHECKING:
    from moldau.streams.grouped import KGroupedStream
    from moldau.streams.table import KTable


class KStream(StreamJoins, Handle):
    """Records one after the other; every method returns a new stream and leaves this as it is."""

    __slots__ = ()

    def filter(self, predicate: Expression, *, name: str | None = None) -> "KStream":
        """Keep records for which the predicate is true."""
        made = self.graph.name("KSTREAM-FILTER", name)
        return self._then(nodes.Filter(name=made, parents=(self.node,), predicate=predicate))

    def filter_not(self, predicate: Expression, *, name: str | None = None) -> "KStream":
        """Keep records for which the predicate is not true."""
        made = self.graph.name("KSTREAM-FILTER", name)
        parents = (self.node,)
        return self._then(
            nodes.Filter(name=made, parents=parents, predicate=predicate, is_negated=True)
        )

    def map(self, mapper: Expression, *, name: str | None = None) -> "KStream":
        """A new key and value: a pair of columns, or one struct with the fields key and value."""
        made = self.graph.name("KSTREAM-MAP", name)
        return self._then(nodes.Map(name=made, parents=(self.node,), mapper=mapper))

    def map_values(self, mapper: Expression, *, name: str | None = None) -> "KStream":
        """A new value for each record."""
        made = self.graph.name("KSTREAM-MAPVALUES", name)
        return self._then(nodes.MapValues(name=made, parents=(self.node,), mapper=mapper))

    def flat_map(self, mapper: Expression, *, name: str | None = None) -> "KStream":
        """Any number of records for each: an array of structs with the fields key and value."""
        made = self.graph.name("KSTREAM-FLATMAP", name)
        return self._then(nodes.FlatMap(name=made, parents=(self.node,), mapper=mapper))

    def flat_map_values(self, mapper: Expression, *, name: str | None = None) -> "KStream":
        """Any number of values for each: an array of them."""
        made = self.graph.name("KSTREAM-FLATMAPVALUES", name)
        return self._then(nodes.FlatMapValues(name=made, parents=(self.node,), mapper=mapper))

    def select_key(self, mapper: Expression, *, name: str | None = None) -> "KStream":
        """A new key for each record."""
        made = self.graph.name("KSTREAM-KEY-SELECT", name)
        return self._then(nodes.SelectKey(name=made, parents=(self.node,), mapper=mapper))

    def peek(self, action: Callable[..., None], *, name: str | None = None) -> "KStream":
        """Show records to a function, as an Arrow batch, where they are; they go on unchanged."""
        made = self.graph.name("KSTREAM-PEEK", name)
        return self._then(nodes.Peek(name=made, parents=(self.node,), action=action))

    def merge(self, *others: "KStream", name: str | None = None) -> "KStream":
        """The records of this stream and of others, whose types must be the same."""
        made = self.graph.name("KSTREAM-MERGE", name)
        parents = (self.node, *(other.node for other in others))
        return self._then(nodes.Merge(name=made, parents=parents))

    def split(self, *, name: str | None = None) -> "BranchedKStream":
        """Begin branches: each record goes to the first one that takes it."""
        made = self.graph.name("KSTREAM-BRANCH", name)
        node = self.graph.add(nodes.Split(name=made, parents=(self.node,)))
        return BranchedKStream(self, node)

    def repartition(self, partitions: int | None = None, *, name: str | None = None) -> "KStream":
        """Spread records by their keys, inside Spark; `through` does it durably, over a topic."""
        made = self.graph.name("KSTREAM-REPARTITION", name)
        return self._then(nodes.Repartition(name=made, parents=(self.node,), partitions=partitions))

    def process(
        self,
        processor: Processor,
        *,
        returns: str | None = None,
        returns_key: str | None = None,
        name: str | None = None,
    ) -> "KStream":
        """Records one after the other through Python with stores and timers: the slow way.

        `returns` and `returns_key` are types as in SQL, unless they stay as they are.
        """
        made = self.graph.name("KSTREAM-PROCESSOR", name)
        node = Process(
            name=made,
            parents=(self.node,),
            store=", ".join(processor.stores) or None,
            processor=processor,
            returns=returns,
            returns_key=returns_key,
        )
        return self._then(node)

    def to(
        self,
        topic: str | ColumnFunction,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        name: str | None = None,
    ) -> None:
        """Write to a topic, or to that which a function of key and value names.

        Without serdes, text, bytes and whole numbers are written as Kafka's serializers do, and
        structs as JSON.
        """
        made = self.graph.name("KSTREAM-SINK", name)
        self.graph.add(
            nodes.Sink(name=made, parents=(self.node,), topic=topic, key=key, value=value)
        )

    def through(self, topic: str, *, key: Serde, value: Serde) -> "KStream":
        """Write to a topic and go on with what is read from it, in a query of its own."""
        self.to(topic, key=key, value=value)
        made = self.graph.name("KSTREAM-SOURCE")
        return self._then(nodes.StreamSource(name=made, topics=(topic,), key=key, value=value))

    def to_table(self, *, name: str | None = None, store: str | None = None) -> "KTable":
        """The latest value of each key; a null value deletes it. With a store it can be queried."""
        from moldau.streams.table import KTable  # noqa: PLC0415 - imports this module

        made = self.graph.name("KSTREAM-TOTABLE", name)
        node = nodes.ToTable(name=made, parents=(self.node,), store=store)
        return KTable(self.graph, self.graph.add_table(node, store))

    def group_by_key(self) -> "KGroupedStream":
        """Records by their keys, to be aggregated."""
        from moldau.streams.grouped import KGroupedStream  # noqa: PLC0415 - imports this module

        return KGroupedStream(self.graph, self.node)

    def group_by(self, mapper: Expression, *, name: str | None = None) -> "KGroupedStream":
        """Records by new keys, to be aggregated."""
        return self.select_key(mapper, name=name).group_by_key()

    def _then(self, node: nodes.Node) -> "KStream":
        return type(self)(self.graph, self.graph.add(node))


class BranchedKStream:
    """Branches of a stream, in the order in which they are tried."""

    def __init__(self, stream: KStream, node: nodes.Split) -> None:
        self._stream = stream
        self._node = node
        self._earlier: tuple[Expression, ...] = ()
        self._count = 0

    def branch(self, predicate: Expression, *, name: str | None = None) -> KStream:
        """What the predicate takes, and no branch before did."""
        stream = self._branch(predicate, name)
        self._earlier = (*self._earlier, predicate)
        return stream

    def default_branch(self, *, name: str | None = None) -> KStream:
        """What no branch took."""
        return self._branch(None, name)

    def _branch(self, predicate: Expression | None, name: str | None) -> KStream:
        self._count += 1
        suffix = name or str(0 if predicate is None else self._count)
        graph = self._stream.graph
        node = nodes.Branch(
            name=f"{self._node.name}-{suffix}",
            parents=(self._node,),
            predicate=predicate,
            earlier=self._earlier,
        )
        return type(self._stream)(graph, graph.add(node))
