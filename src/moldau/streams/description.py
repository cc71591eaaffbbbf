"""A topology as text, laid out as Kafka Streams describes one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from moldau.streams.nodes.nodes import GlobalTableSource, InternalTopic, Node, Sink, Source, Topic

if TYPE_CHECKING:
    from moldau.streams.topology import Topology


def describe(topology: "Topology") -> str:
    """Each sub-topology with its nodes, what they come from and what they lead to."""
    lines = ["Topologies:"]
    for number, component in enumerate(topology.components()):
        is_global = all(isinstance(node, GlobalTableSource) for node in component)
        of_what = " for global store (will not generate tasks)" if is_global else ""
        lines.append(f"   Sub-topology: {number}{of_what}")
        for node in component:
            lines.extend(_described(node, topology))
        lines.append("")
    return "\n".join(lines) + "\n"


def topic_text(topic: Topic) -> str:
    return topic.suffix if isinstance(topic, InternalTopic) else topic


def _described(node: Node, topology: "Topology") -> Iterator[str]:
    stores = f"[{node.store}]" if node.store else "[]"
    children = [child.name for child in topology.children(node)]
    parents = [parent.name for parent in node.parents]
    if isinstance(node, Source):
        topics = ", ".join(topic_text(topic) for topic in node.topics)
        yield f"    Source: {node.name} (topics: [{topics}])"
    elif isinstance(node, Sink):
        is_dynamic = not isinstance(node.topic, str | InternalTopic)
        where = "extractor class" if is_dynamic else "topic"
        yield f"    Sink: {node.name} ({where}: {sink_topic(node)})"
    else:
        yield f"    Processor: {node.name} (stores: {stores})"
    if not isinstance(node, Sink):
        yield f"      --> {', '.join(children) or 'none'}"
    if not isinstance(node, Source):
        yield f"      <-- {', '.join(parents)}"


def sink_topic(node: Sink) -> str:
    """The topic of a sink, or the name of the function that chooses it."""
    if isinstance(node.topic, str | InternalTopic):
        return topic_text(node.topic)
    return getattr(node.topic, "__name__", "expression")
