"""What a running application shows over HTTP: its metrics, and its topology as data."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from moldau.net.metrics_page import Page
from moldau.streams.picture import drawing
from moldau.streams.run.progress import Watched, metrics

if TYPE_CHECKING:
    from moldau.streams.nodes.nodes import Node
    from moldau.streams.topology import Topology


def pages_of(
    topology: "Topology", nodes: "Mapping[str, Iterable[Node]]", queries: Sequence[Watched]
) -> dict[str, Page]:
    """Pages by their paths; `nodes` says which belong to which query."""
    shown = Page(metrics(queries).lines)
    text = json.dumps(drawing(topology, nodes)) + "\n"
    return {"/": shown, "/metrics": shown, "/topology": Page(lambda: [text])}
