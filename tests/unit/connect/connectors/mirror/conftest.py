"""Two brokers and a worker for the tests of the mirror."""

from collections.abc import Iterator

import pytest

from moldau.testing.broker import EmbeddedBroker, running_broker
from unit.connect.connectors.mirror.mirrored import Clusters
from unit.connect.started import started_worker

BROKER = {"group.initial.rebalance.delay.ms": "0", "log.cleaner.backoff.ms": "100"}


@pytest.fixture(scope="package")
def old() -> Iterator[EmbeddedBroker]:
    """The cluster that is copied."""
    with running_broker(BROKER) as broker:
        yield broker


@pytest.fixture(scope="package")
def clusters(old: EmbeddedBroker) -> Iterator[Clusters]:
    """Both, and a worker at the new one."""
    with running_broker(BROKER) as new, started_worker(new.bootstrap_servers) as worker:
        yield Clusters(old, new, worker)
