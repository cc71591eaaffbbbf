"""One broker and one worker for the tests of this folder that need them."""

from collections.abc import Iterator

import pytest

from moldau.testing.broker import EmbeddedBroker, running_broker
from unit.connect.started import StartedWorker, started_worker


@pytest.fixture(scope="package")
def cluster() -> Iterator[EmbeddedBroker]:
    """A broker that several tests share."""
    with running_broker({"group.initial.rebalance.delay.ms": "0"}) as broker:
        yield broker


@pytest.fixture(scope="package")
def worker(cluster: EmbeddedBroker) -> Iterator[StartedWorker]:
    """A worker that leads; each test has connectors of its own."""
    with started_worker(cluster.bootstrap_servers) as started:
        yield started
