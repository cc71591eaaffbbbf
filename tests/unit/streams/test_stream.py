"""What the methods of a stream put into the graph."""

import pytest

from moldau.streams import LONG, STRING, StreamsBuilder
from moldau.streams.nodes.nodes import Branch, Filter, Node, Sink, StreamSource


def kinds(builder: StreamsBuilder) -> list[str]:
    return [type(node).__name__ for node in builder.graph.nodes]


def test_every_method_adds_its_node() -> None:
    builder = StreamsBuilder()
    stream = builder.stream("lines")
    other = stream.filter("true").filter_not("false").map("struct(key, value)")
    other = other.map_values("value").flat_map("array()").flat_map_values("array(value)")
    other = other.select_key("value").peek(print).merge(stream).repartition(3)
    other.to_table().to_stream().to("out")
    assert kinds(builder) == [
        *("StreamSource", "Filter", "Filter", "Map", "MapValues", "FlatMap", "FlatMapValues"),
        *("SelectKey", "Peek", "Merge", "Repartition", "ToTable", "ToStream", "Sink"),
    ]
    negated = [node.is_negated for node in builder.graph.nodes if isinstance(node, Filter)]
    assert negated == [False, True]


def test_a_step_leaves_its_stream_as_it_was() -> None:
    stream = StreamsBuilder().stream("lines")
    node = stream.node
    assert stream.filter("true").node.parents == stream.map_values("value").node.parents == (node,)


def test_a_branch_knows_those_before_it() -> None:
    builder = StreamsBuilder()
    branches = builder.stream("lines").split(name="by-size")
    branches.branch("length(value) < 3", name="short")
    branches.branch("length(value) < 6")
    branches.default_branch()
    found = [node for node in builder.graph.nodes if isinstance(node, Branch)]
    assert [node.name for node in found] == ["by-size-short", "by-size-2", "by-size-0"]
    assert [len(node.earlier) for node in found] == [0, 1, 2]
    assert found[2].predicate is None


def test_through_a_topic_a_new_part_begins() -> None:
    builder = StreamsBuilder()
    builder.stream("lines").through("between", key=STRING, value=LONG).to("out")
    between: list[Node] = [
        node
        for node in builder.graph.nodes
        if (isinstance(node, Sink) and node.topic == "between")
        or (isinstance(node, StreamSource) and node.topics == ("between",))
    ]
    assert len(between) == 2
    assert len(builder.build().components()) == 2


def test_names_of_steps_can_be_given() -> None:
    stream = StreamsBuilder().stream("lines").filter("true", name="kept")
    assert stream.node.name == "kept"
    with pytest.raises(ValueError, match="there is a node 'kept' already"):
        stream.filter("true", name="kept")
