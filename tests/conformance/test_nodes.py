"""The table of ZooKeeper nodes that the unit tests use, against Apache Kafka 3.9 itself."""

import re
from pathlib import Path

import pytest

from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from conformance.conftest import show_download

pytestmark = needs_apache("kafka-3.9")

_TABLE = Path(__file__).parents[1] / "unit" / "coordination" / "layout" / "apache-3.9-nodes.tsv"


def test_kafka_writes_the_nodes_that_the_table_shows(request: pytest.FixtureRequest) -> None:
    show_download(request, "kafka-3.9")
    with JavaProgram("nodes", "kafka-3.9") as program:
        samples = program.call("samples")
    table = dict(line.split("\t") for line in _TABLE.read_text().splitlines())
    # A broker's node has the time of its registration.
    at_some_time = {
        name: re.sub(r'"timestamp":"\d+"', '"timestamp":"1600000000000"', text)
        for name, text in samples.items()
    }
    assert at_some_time == table
