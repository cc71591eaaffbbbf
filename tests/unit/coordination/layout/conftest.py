"""Nodes as Apache Kafka 3.9 writes them: what the encoders of its `kafka.zk.ZkData` give."""

from pathlib import Path

import pytest

Nodes = dict[str, bytes]
"""What each node holds, by the name of the case."""


@pytest.fixture(scope="session")
def apache() -> Nodes:
    lines = (Path(__file__).parent / "apache-3.9-nodes.tsv").read_text().splitlines()
    return {name: text.encode() for name, text in (line.split("\t") for line in lines)}
