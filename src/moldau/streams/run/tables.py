"""Tables that can be asked: which topic has their rows, and how its bytes are read."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from moldau.streams.compile.columns import serde_for
from moldau.streams.compile.compiling import Query
from moldau.streams.compile.edges import key_serde, topic_name
from moldau.streams.compile.records import VALUE
from moldau.streams.nodes.nodes import GlobalTableSource, InternalTopic, Sink, TableSource
from moldau.streams.serdes import Serde
from moldau.streams.topology import Topology

_CHANGELOG = "-changelog"


class StoredTable(NamedTuple):
    """A table with a store: the latest value of each key of a topic."""

    name: str
    topic: str
    key: Serde
    value: Serde


def stored_tables(
    topology: Topology, queries: Iterable[Query], application: str
) -> Iterator[StoredTable]:
    """The tables that have a name: sources by their topics, others by their changelogs."""
    for node in topology.nodes:
        if isinstance(node, TableSource | GlobalTableSource) and node.store is not None:
            (topic,) = node.topics
            yield StoredTable(node.store, topic_name(topic, application), node.key, node.value)
    for query in queries:
        for sink in query.sinks:
            if isinstance(sink.topic, InternalTopic) and sink.topic.suffix.endswith(_CHANGELOG):
                name = sink.topic.suffix.removesuffix(_CHANGELOG)
                topic = topic_name(sink.topic, application)
                yield StoredTable(name, topic, *_serdes(sink, query))


def _serdes(sink: Sink, query: Query) -> tuple[Serde, Serde]:
    """What the sink writes by."""
    frame = query.compilation.frame(sink.parents[0])
    value = sink.value or serde_for(frame.schema[VALUE].dataType)
    return sink.key or key_serde(sink, frame), value
