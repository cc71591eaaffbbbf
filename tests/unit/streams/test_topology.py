"""How nodes hang together."""

from moldau.streams import StreamsBuilder, TimeWindows
from moldau.streams.nodes.nodes import ancestors, windows_of
from moldau.streams.topology import Topology


def topology() -> Topology:
    builder = StreamsBuilder()
    one, other = builder.stream("a"), builder.stream("b")
    builder.stream("apart").to("far")
    one.filter("true").merge(other).to("out")
    return builder.build()


def test_nodes_belong_together_if_anything_joins_them() -> None:
    names = [[node.name for node in part] for part in topology().components()]
    assert names == [
        [
            *("KSTREAM-SOURCE-0000000000", "KSTREAM-SOURCE-0000000001"),
            *("KSTREAM-FILTER-0000000004", "KSTREAM-MERGE-0000000005"),
            "KSTREAM-SINK-0000000006",
        ],
        ["KSTREAM-SOURCE-0000000002", "KSTREAM-SINK-0000000003"],
    ]


def test_children_and_ancestors_are_found() -> None:
    found = topology()
    source, sink = found.nodes[0], found.sinks[1]
    assert [child.name for child in found.children(source)] == ["KSTREAM-FILTER-0000000004"]
    assert [node.name for node in ancestors(sink)] == [
        *("KSTREAM-SINK-0000000006", "KSTREAM-MERGE-0000000005", "KSTREAM-SOURCE-0000000001"),
        *("KSTREAM-FILTER-0000000004", "KSTREAM-SOURCE-0000000000"),
    ]


def test_a_topology_can_be_shown() -> None:
    found = topology()
    assert found.describe().startswith("Topologies:\n")
    assert found.mermaid().startswith("flowchart")
    assert found.svg().startswith("<svg")


def test_windows_are_found_whatever_the_node() -> None:
    windows = TimeWindows.of_size_with_no_grace(5)
    stream = StreamsBuilder().stream("a")
    assert windows_of(stream.node) is None
    assert windows_of(stream.group_by_key().windowed_by(windows).count().node) == windows
