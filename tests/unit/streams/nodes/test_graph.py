"""Names of nodes are Kafka's, and there are no two of one name."""

import pytest

from moldau.streams.nodes.graph import Graph, Handle
from moldau.streams.nodes.nodes import Merge


def test_names_are_numbered_through() -> None:
    graph = Graph()
    assert graph.name("KSTREAM-SOURCE") == "KSTREAM-SOURCE-0000000000"
    assert graph.name("KSTREAM-FILTER", "mine") == "mine"
    assert graph.name("KSTREAM-FILTER") == "KSTREAM-FILTER-0000000002"


def test_a_name_is_taken_once() -> None:
    graph = Graph()
    node = graph.add(Merge(name="mine"))
    assert Handle(graph, node).node is node
    with pytest.raises(ValueError, match="there is a node 'mine' already"):
        graph.add(Merge(name="mine"))
