"""Fixtures of the console's tests: a broker with a few things in it, and a console for it."""

from collections.abc import AsyncIterator, Iterator

import pytest

from moldau.testing.broker import EmbeddedBroker, running_broker
from unit.console.asking import Asking, asking


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    """A broker for all tests of a module; each uses topics of its own."""
    with running_broker({"group.initial.rebalance.delay.ms": "0"}) as running:
        yield running


@pytest.fixture
async def console(broker: EmbeddedBroker) -> AsyncIterator[Asking]:
    """A console without a server, asked by whoever may do everything."""
    async with asking({"local": {"bootstrap.servers": broker.bootstrap_servers}}) as found:
        yield found
