"""Nodes are told apart by identity; the names of internal topics begin with the application."""

from moldau.streams.nodes.nodes import Filter, InternalTopic, StreamSource
from moldau.streams.serdes import STRING


def test_two_equal_nodes_are_two() -> None:
    source = StreamSource(name="s", topics=("a",), key=STRING, value=STRING)
    one, other = (Filter(name="f", parents=(source,), predicate="true") for _ in range(2))
    assert one != other
    assert len({one, other}) == 2


def test_an_internal_topic_belongs_to_the_application() -> None:
    assert InternalTopic("counts-changelog").of("shop") == "shop-counts-changelog"
