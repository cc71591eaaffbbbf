"""Where a topology begins: streams and tables of topics."""

from moldau.streams.errors import ErrorPolicy, OnError
from moldau.streams.nodes import nodes
from moldau.streams.nodes.graph import Graph
from moldau.streams.serdes import BYTES, STRING, Serde
from moldau.streams.stream import KStream
from moldau.streams.table import GlobalKTable, KTable
from moldau.streams.topology import Topology


class StreamsBuilder:
    """Reads topics and collects what is done with them.

    `on_error` says what becomes of records that cannot be read, that functions fail on, or that
    cannot be written: `fail` stops the query, `continue` leaves them out, `dead-letter` writes
    them to the topic `dead_letters` and leaves them out.
    """

    def __init__(self, *, on_error: OnError | None = None, dead_letters: str | None = None) -> None:
        self.graph = Graph(ErrorPolicy.of(on_error, dead_letters))

    def stream(
        self,
        *topics: str,
        key: Serde = STRING,
        value: Serde = STRING,
        on_error: OnError | None = None,
        dead_letters: str | None = None,
    ) -> KStream:
        """The records of topics.

        `on_error` and `dead_letters` are for what the serdes of this source cannot read.
        """
        if not topics:
            raise ValueError("name a topic to read")
        policy = ErrorPolicy.of(on_error, dead_letters) or self.graph.errors
        name = self.graph.name("KSTREAM-SOURCE")
        if policy.on_error == "dead-letter":
            raw = nodes.StreamSource(name=name, topics=topics, key=BYTES, value=BYTES)
            return KStream(self.graph, self._decoded(raw, "KSTREAM", (key, value), policy))
        source = nodes.StreamSource(
            name=name, topics=topics, key=key, value=value, on_error=policy.on_error
        )
        return KStream(self.graph, self.graph.add(source))

    def table(
        self,
        topic: str,
        *,
        key: Serde = STRING,
        value: Serde = STRING,
        store: str | None = None,
        on_error: OnError | None = None,
        dead_letters: str | None = None,
    ) -> KTable:
        """The latest value of each key of a topic; a null value deletes it.

        With a store it can be queried: the topic is its changelog. `on_error` and `dead_letters`
        are as of a stream.
        """
        policy = ErrorPolicy.of(on_error, dead_letters) or self.graph.errors
        name = self.graph.name("KTABLE-SOURCE")
        if policy.on_error == "dead-letter":
            if store is not None:
                raise ValueError("a table with dead letters has no store: views read its topic")
            raw = nodes.TableSource(name=name, topics=(topic,), key=BYTES, value=BYTES)
            return KTable(self.graph, self._decoded(raw, "KTABLE", (key, value), policy))
        source = nodes.TableSource(
            name=name,
            topics=(topic,),
            key=key,
            value=value,
            store=store,
            on_error=policy.on_error,
        )
        return KTable(self.graph, self.graph.add(source))

    def _decoded(
        self, raw: nodes.Source, kind: str, serdes: tuple[Serde, Serde], policy: ErrorPolicy
    ) -> nodes.Node:
        """A source as bytes, from which dead letters and decoded records part."""
        assert policy.dead_letters is not None
        self.graph.add(raw)
        key, value = serdes
        letters = nodes.DeadLetters(
            name=self.graph.name(f"{kind}-DEADLETTERS"),
            parents=(raw,),
            topic=policy.dead_letters,
            expected_key=key,
            expected_value=value,
        )
        self.graph.add(letters)
        made = self.graph.name(f"{kind}-DECODE")
        return self.graph.add(nodes.Decode(name=made, parents=(raw,), key=key, value=value))

    def global_table(
        self,
        topic: str,
        *,
        key: Serde = STRING,
        value: Serde = STRING,
        store: str | None = None,
    ) -> GlobalKTable:
        """A table that every task has whole, to be joined with by any expression.

        It is read anew for each micro-batch, so what cannot be read is left out without a letter.
        """
        source = nodes.GlobalTableSource(
            name=self.graph.name("KTABLE-GLOBAL-SOURCE"),
            topics=(topic,),
            key=key,
            value=value,
            store=store,
            on_error="fail" if self.graph.errors.on_error == "fail" else "continue",
        )
        return GlobalKTable(self.graph, self.graph.add(source))

    def build(self) -> Topology:
        """All that was built, to be run, shown or tested."""
        topology = Topology(tuple(self.graph.nodes), self.graph.errors)
        if not topology.sinks:
            raise ValueError("nothing is written: end a stream with .to(topic)")
        return topology
