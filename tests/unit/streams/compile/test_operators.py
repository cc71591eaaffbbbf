"""Every kind of node that can stand in a topology has its operator."""

from moldau.streams.compile.operators import OPERATORS
from moldau.streams.nodes import joins as join_nodes
from moldau.streams.nodes import nodes
from moldau.streams.nodes import processors as processor_nodes


def test_every_kind_of_node_has_an_operator() -> None:
    abstract = {nodes.Node, nodes.Source, join_nodes.Join}
    kinds = {
        kind
        for module in (nodes, join_nodes, processor_nodes)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, nodes.Node)
    }
    assert kinds - abstract - OPERATORS.keys() == set()
