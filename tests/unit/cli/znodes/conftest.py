"""Nodes as a cluster of three brokers has them, in memory; with a real ZooKeeper in conformance."""

import pytest

from moldau.coordination.layout.brokers import BrokerRegistration, RegisteredEndpoint, id_path
from moldau.coordination.layout.roots import PERSISTENT_PATHS, with_parents
from moldau.coordination.layout.topics import PartitionAssignment, TopicAssignment, topic_path
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.tree import Create
from moldau.runtime.clock import SystemClock


@pytest.fixture
async def tree() -> MemoryTree:
    tree = MemoryEnsemble(SystemClock()).connect()
    for path in with_parents(PERSISTENT_PATHS):
        await tree.create(Create(path))
    for number in (0, 1, 2):
        broker = BrokerRegistration(
            endpoints=(RegisteredEndpoint("PLAINTEXT", "PLAINTEXT", "h", 9),), timestamp_ms=1
        )
        await tree.create(Create(id_path(number), broker.encode()))
    return tree


@pytest.fixture
async def moved(tree: MemoryTree) -> MemoryTree:
    """The same with a topic `m` of two partitions."""
    partitions = {
        number: PartitionAssignment(replicas=replicas)
        for number, replicas in enumerate([(0, 1), (1, 2)])
    }
    assignment = TopicAssignment(partitions=partitions, topic_id=None)
    await tree.create(Create(topic_path("m"), assignment.encode()))
    return tree
