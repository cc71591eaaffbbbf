"""Nodes as Apache Kafka 3.9 writes them: what the encoders of its `kafka.zk.ZkData` give."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def apache():
    lines = (Path(__file__).parent / "apache-3.9-nodes.tsv").read_text().splitlines()
    return {name: text.encode() for name, text in (line.split("\t") for line in lines)}
