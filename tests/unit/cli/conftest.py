"""Fixtures of the commands' tests."""

from collections.abc import Iterator

import pytest

from moldau.testing.broker import EmbeddedBroker, running_broker


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    """A broker for all tests of a module; each uses topics of its own."""
    with running_broker({"group.initial.rebalance.delay.ms": "0"}) as running:
        yield running


@pytest.fixture
def bootstrap(broker: EmbeddedBroker) -> str:
    """The option that names the broker."""
    return f"--bootstrap-server={broker.bootstrap_servers}"
