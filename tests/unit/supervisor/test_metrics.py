"""One page of metrics for all brokers."""

import asyncio
from pathlib import Path

from moldau.net.metrics_page import MetricsPage, Page
from moldau.supervisor.child import Child
from moldau.supervisor.metrics import ClusterMetrics, labelled, merged

ONE = '# HELP a What.\n# TYPE a counter\na 1\na{topic="t"} 2\n# TYPE b gauge\nb 3\n'
TWO = "# HELP a What.\n# TYPE a counter\na 4\n# TYPE c gauge\nc 5\n"


def test_every_sample_has_its_broker() -> None:
    assert labelled("a 1", 2) == 'a{broker="2"} 1'
    assert labelled('a{x="{ }"} 1', 2) == 'a{broker="2",x="{ }"} 1'


def test_a_family_stands_together_and_is_said_once() -> None:
    assert "".join(merged({0: ONE, 1: TWO})).splitlines() == [
        "# HELP a What.",
        "# TYPE a counter",
        'a{broker="0"} 1',
        'a{broker="0",topic="t"} 2',
        'a{broker="1"} 4',
        "# TYPE b gauge",
        'b{broker="0"} 3',
        "# TYPE c gauge",
        'c{broker="1"} 5',
    ]


def child(number: int) -> Child:
    return Child(number, Path("none"), [], lambda _: None)


async def test_brokers_are_asked_and_those_that_do_not_answer_are_left_out() -> None:
    page = MetricsPage({"/metrics": Page(lambda: [ONE])}, host="127.0.0.1", port=0)
    serving = asyncio.create_task(page.serve())
    children = [child(0), child(1), child(2)]
    children[0].metrics_port = page.port
    children[0].is_up.set()
    children[1].metrics_port = 1  # nobody listens there
    metrics = ClusterMetrics(children)
    await metrics.fetch()
    found = list(metrics.lines())
    serving.cancel()
    assert 'moldau_broker_up{broker="0"} 1\n' in found
    assert 'moldau_broker_up{broker="1"} 0\n' in found
    assert 'moldau_broker_restarts_total{broker="2"} 0\n' in found
    assert 'b{broker="0"} 3\n' in found
    assert not [line for line in found if line.startswith(("a", "b")) and 'broker="1"' in line]
    assert metrics.reason() == "not up: broker 1, 2"
    assert metrics.pages()["/readyz"].unavailable() == metrics.reason()
