"""A broker for all tests of a module, and registries that keep their schemas in it."""

from collections.abc import Iterator

import pytest

from moldau.testing.broker import EmbeddedBroker, running_broker
from unit.registry.started import KAFKA, StartedRegistry, started_registry


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with running_broker(KAFKA) as running:
        yield running


@pytest.fixture(scope="module")
def registry(broker: EmbeddedBroker) -> Iterator[StartedRegistry]:
    """One for all tests of a module; each uses subjects of its own."""
    with started_registry(broker.bootstrap_servers) as running:
        yield running
