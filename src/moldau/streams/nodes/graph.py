"""The nodes of a topology while it is being built, and their names."""

from typing import TypeVar

from moldau.streams.errors import FAILING, ErrorPolicy
from moldau.streams.nodes.nodes import InternalTopic, Node, Sink

AnyNode = TypeVar("AnyNode", bound=Node)


class Graph:
    """Collects nodes in the order in which they are made, parents before children."""

    def __init__(self, errors: ErrorPolicy | None = None) -> None:
        self.errors = errors or FAILING
        self.nodes: list[Node] = []
        self._named = 0

    def name(self, kind: str, given: str | None = None) -> str:
        """The given name, or the next one of a kind: `KSTREAM-FILTER-0000000003`."""
        number = self._named
        self._named += 1
        return given or f"{kind}-{number:010}"

    def add(self, node: AnyNode) -> AnyNode:
        if any(node.name == other.name for other in self.nodes):
            raise ValueError(f"there is a node {node.name!r} already: give it another name")
        self.nodes.append(node)
        return node

    def add_table(self, node: Node, store: str | None) -> Node:
        """Put a table in; if its store has a name, it is also written to a changelog topic."""
        self.add(node)
        if store is not None:
            name = self.name("KTABLE-CHANGELOG")
            changelog = InternalTopic(f"{store}-changelog")
            self.add(Sink(name=name, parents=(node,), topic=changelog))
        return node


class Handle:
    """A node that can be built upon, as streams and tables are."""

    __slots__ = ("graph", "node")

    def __init__(self, graph: Graph, node: Node) -> None:
        self.graph = graph
        self.node = node
