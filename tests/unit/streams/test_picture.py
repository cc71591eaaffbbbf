"""Pictures have every node and every arrow."""

import xml.etree.ElementTree as ET

from moldau.streams import StreamsBuilder
from moldau.streams.picture import mermaid, svg
from moldau.streams.topology import Topology


def topology() -> Topology:
    builder = StreamsBuilder()
    stream = builder.stream("lines", "more")
    stream.filter("value < 3", name="<3").to("few")
    stream.group_by_key().count(store="counts")
    return builder.build()


def test_mermaid_has_topics_as_cylinders_and_stores_with_their_steps() -> None:
    assert mermaid(topology()).splitlines() == [
        "flowchart TD",
        '    n0[("KSTREAM-SOURCE-0000000000<br>lines, more")]',
        '    n1["<3"]',
        '    n2[("KSTREAM-SINK-0000000002<br>few")]',
        '    n3["KSTREAM-AGGREGATE-0000000003<br>counts"]',
        '    n4[("KTABLE-CHANGELOG-0000000004<br>counts-changelog")]',
        "    n0 --> n1",
        "    n1 --> n2",
        "    n0 --> n3",
        "    n3 --> n4",
    ]


def test_svg_is_xml_with_a_box_for_each_node() -> None:
    tree = ET.fromstring(svg(topology()))
    space = "{http://www.w3.org/2000/svg}"
    assert len(tree.findall(f"{space}g")) == 5
    assert len(tree.findall(f"{space}line")) == 4
    texts = [text.text for text in tree.iter(f"{space}text")]
    assert "<3" in texts
    places = {(box.get("x"), box.get("y")) for box in tree.iter(f"{space}rect")}
    assert len(places) == 5
