"""A topology as a picture: Mermaid's language, SVG, and data for those who draw it themselves."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING

from moldau.streams.description import sink_topic, topic_text
from moldau.streams.nodes.nodes import Node, Sink, Source

if TYPE_CHECKING:
    from moldau.streams.topology import Topology

_BOX_WIDTH, _BOX_HEIGHT = 260, 44
_GAP_X, _GAP_Y = 30, 46
_FILLS = {"source": "#d5e8f7", "sink": "#d9f2d9", "state": "#fdf0d0", "step": "#f5f5f5"}

_ARROW_TIP = (
    '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" '
    'orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>'
)


def mermaid(topology: "Topology") -> str:
    """A flow chart: topics as cylinders, stateful steps with their stores."""
    ids = {node: f"n{number}" for number, node in enumerate(topology.nodes)}
    lines = ["flowchart TD"]
    for node, identity in ids.items():
        label = "<br>".join(_label(node))
        opening, closing = ("[(", ")]") if isinstance(node, Source | Sink) else ("[", "]")
        lines.append(f'    {identity}{opening}"{label}"{closing}')
    for node, identity in ids.items():
        lines.extend(f"    {ids[parent]} --> {identity}" for parent in node.parents)
    return "\n".join(lines) + "\n"


def svg(topology: "Topology") -> str:
    """Boxes in rows, sources at the top, each below all that it comes from."""
    places = _places(topology)
    width = max(x for x, _ in places.values()) + _BOX_WIDTH + _GAP_X
    height = max(y for _, y in places.values()) + _BOX_HEIGHT + _GAP_X
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">'
    )
    parts = [head, _ARROW_TIP]
    for node, (x, y) in places.items():
        parts.extend(_arrow(places[parent], (x, y)) for parent in node.parents)
    parts.extend(_box(node, x, y) for node, (x, y) in places.items())
    return "\n".join([*parts, "</svg>"]) + "\n"


def drawing(topology: "Topology", queries: Mapping[str, Iterable[Node]]) -> dict[str, object]:
    """Boxes with their places and the queries that they belong to, and arrows between them."""
    places = _places(topology)
    numbers = {node: number for number, node in enumerate(places)}
    of_node: dict[Node, list[str]] = {node: [] for node in places}
    for name, nodes in queries.items():
        for node in nodes:
            of_node.get(node, []).append(name)
    return {
        "box": [_BOX_WIDTH, _BOX_HEIGHT],
        "boxes": [
            {"x": x, "y": y, "kind": _kind(node), "lines": _label(node), "queries": of_node[node]}
            for node, (x, y) in places.items()
        ],
        "arrows": [[numbers[parent], numbers[node]] for node in places for parent in node.parents],
    }


def _kind(node: Node) -> str:
    if isinstance(node, Source | Sink):
        return "source" if isinstance(node, Source) else "sink"
    return "state" if node.is_stateful else "step"


def _label(node: Node) -> list[str]:
    if isinstance(node, Source):
        return [node.name, ", ".join(topic_text(topic) for topic in node.topics)]
    if isinstance(node, Sink):
        return [node.name, sink_topic(node)]
    return [node.name, *([node.store] if node.store else [])]


def _places(topology: "Topology") -> dict[Node, tuple[int, int]]:
    rows: dict[Node, int] = {}
    filled: dict[int, int] = {}
    places = {}
    for node in topology.nodes:
        row = max((rows[parent] + 1 for parent in node.parents), default=0)
        rows[node] = row
        at = filled.get(row, 0)
        filled[row] = at + 1
        x = _GAP_X + at * (_BOX_WIDTH + _GAP_X)
        places[node] = (x, _GAP_X + row * (_BOX_HEIGHT + _GAP_Y))
    return places


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1, y1 = start[0] + _BOX_WIDTH // 2, start[1] + _BOX_HEIGHT
    x2, y2 = end[0] + _BOX_WIDTH // 2, end[1]
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#555" marker-end="url(#tip)"/>'


def _box(node: Node, x: int, y: int) -> str:
    lines = "".join(
        f'<text x="{x + _BOX_WIDTH // 2}" y="{y + 18 + 15 * number}" text-anchor="middle">'
        f"{escape(line)}</text>"
        for number, line in enumerate(_label(node))
    )
    return (
        f'<g><rect x="{x}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="6" '
        f'fill="{_FILLS[_kind(node)]}" stroke="#555"/>{lines}</g>'
    )
