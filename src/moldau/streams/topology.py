"""A finished topology: its nodes, and how they hang together."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from moldau.streams.errors import FAILING, ErrorPolicy
from moldau.streams.nodes.nodes import Node, Sink

if TYPE_CHECKING:
    from moldau.streams.compile.compiling import Query
    from moldau.streams.compile.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Topology:
    """Nodes in the order in which they were made, parents before children."""

    nodes: tuple[Node, ...]
    errors: ErrorPolicy = FAILING

    @property
    def sinks(self) -> tuple[Sink, ...]:
        return tuple(node for node in self.nodes if isinstance(node, Sink))

    def children(self, node: Node) -> tuple[Node, ...]:
        return tuple(each for each in self.nodes if node in each.parents)

    def components(self) -> tuple[tuple[Node, ...], ...]:
        """Parts that have no node in common, which Kafka calls sub-topologies."""
        part_of: dict[Node, int] = {}
        for number, node in enumerate(self.nodes):
            joined = {part_of[parent] for parent in node.parents}
            part_of[node] = min(joined, default=number)
            for other, part in part_of.items():
                if part in joined:
                    part_of[other] = part_of[node]
        parts: dict[int, list[Node]] = {}
        for node, part in part_of.items():
            parts.setdefault(part, []).append(node)
        return tuple(tuple(parts[part]) for part in sorted(parts))

    def describe(self) -> str:
        """The topology as text, laid out as Kafka Streams does it."""
        from moldau.streams.description import describe  # noqa: PLC0415 - imports this module

        return describe(self)

    def mermaid(self) -> str:
        """The topology as a flow chart in Mermaid's language, which GitHub draws."""
        from moldau.streams.picture import mermaid  # noqa: PLC0415 - imports this module

        return mermaid(self)

    def svg(self) -> str:
        """The topology as a picture."""
        from moldau.streams.picture import svg  # noqa: PLC0415 - imports this module

        return svg(self)

    def compile(self, inputs: "Inputs", application: str) -> "tuple[Query, ...]":
        """The topology as Spark's queries, on given inputs."""
        from moldau.streams.compile.compiling import compiled  # noqa: PLC0415 - imports pyspark

        return compiled(self, inputs, application)
