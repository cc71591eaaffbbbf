"""Every kind of node that can stand in a topology has its operator."""

from moldau.streams import join_nodes, nodes, processor_nodes
from moldau.streams.operators import OPERATORS


def test_every_kind_of_node_has_an_operator() -> None:
    abstract = {nodes.Node, nodes.Source, join_nodes.Join}
    kinds = {
        kind
        for module in (nodes, join_nodes, processor_nodes)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, nodes.Node)
    }
    assert kinds - abstract - OPERATORS.keys() == set()
