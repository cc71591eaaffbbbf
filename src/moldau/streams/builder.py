"""Where a topology begins: streams and tables of topics."""

from moldau.streams.nodes import nodes
from moldau.streams.nodes.graph import Graph
from moldau.streams.serdes import BYTES, STRING, Serde
from moldau.streams.stream import KStream
from moldau.streams.table import GlobalKTable, KTable
from moldau.streams.topology import Topology


class StreamsBuilder:
    """Reads topics and collects what is done with them."""

    def __init__(self) -> None:
        self.graph = Graph()

    def stream(
        self,
        *topics: str,
        key: Serde = STRING,
        value: Serde = STRING,
        dead_letters: str | None = None,
    ) -> KStream:
        """The records of topics.

        What the serdes cannot read stops the query, or goes to the topic `dead_letters`.
        """
        if not topics:
            raise ValueError("name a topic to read")
        name = self.graph.name("KSTREAM-SOURCE")
        if dead_letters is None:
            source = nodes.StreamSource(name=name, topics=topics, key=key, value=value)
            return KStream(self.graph, self.graph.add(source))
        raw = self.graph.add(nodes.StreamSource(name=name, topics=topics, key=BYTES, value=BYTES))
        letters = nodes.DeadLetters(
            name=self.graph.name("KSTREAM-DEADLETTERS"),
            parents=(raw,),
            topic=dead_letters,
            expected_key=key,
            expected_value=value,
        )
        self.graph.add(letters)
        name = self.graph.name("KSTREAM-DECODE")
        decode = nodes.Decode(name=name, parents=(raw,), key=key, value=value)
        return KStream(self.graph, self.graph.add(decode))

    def table(
        self,
        topic: str,
        *,
        key: Serde = STRING,
        value: Serde = STRING,
        store: str | None = None,
    ) -> KTable:
        """The latest value of each key of a topic; a null value deletes it.

        With a store it can be queried: the topic is its changelog.
        """
        name = self.graph.name("KTABLE-SOURCE")
        source = nodes.TableSource(name=name, topics=(topic,), key=key, value=value, store=store)
        return KTable(self.graph, self.graph.add(source))

    def global_table(
        self,
        topic: str,
        *,
        key: Serde = STRING,
        value: Serde = STRING,
        store: str | None = None,
    ) -> GlobalKTable:
        """A table that every task has whole, to be joined with by any expression."""
        source = nodes.GlobalTableSource(
            name=self.graph.name("KTABLE-GLOBAL-SOURCE"),
            topics=(topic,),
            key=key,
            value=value,
            store=store,
        )
        return GlobalKTable(self.graph, self.graph.add(source))

    def build(self) -> Topology:
        """All that was built, to be run, shown or tested."""
        topology = Topology(tuple(self.graph.nodes))
        if not topology.sinks:
            raise ValueError("nothing is written: end a stream with .to(topic)")
        return topology
