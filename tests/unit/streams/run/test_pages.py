"""Pages have what queries do, and what the application is made of."""

import json

from moldau.streams.compile.naming import in_order
from moldau.streams.nodes.nodes import Sink
from moldau.streams.run.pages import pages_of
from unit.streams.run.test_progress import TOLD, Query
from unit.streams.test_picture import topology


def test_metrics_and_topology_go_together() -> None:
    made = topology()
    sinks = [node for node in made.nodes if isinstance(node, Sink)]
    nodes = {f"q{number}": in_order([sink]) for number, sink in enumerate(sinks)}
    pages = pages_of(made, nodes, [Query("q0", TOLD)])
    assert pages["/metrics"] is pages["/"]
    assert 'moldau_streams_batch_ms{query="q0"} 250\n' in list(pages["/metrics"].lines())
    found = json.loads("".join(pages["/topology"].lines()))
    assert found["arrows"] == [[0, 1], [1, 2], [0, 3], [3, 4]]
    assert found["boxes"][0]["queries"] == ["q0", "q1"]
    assert [each["kind"] for each in found["boxes"]] == ["source", "step", "sink", "state", "sink"]
