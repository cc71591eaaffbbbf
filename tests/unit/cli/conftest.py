"""Fixtures of the commands' tests."""

import logging
from collections.abc import Iterator

import pytest

from moldau.testing.broker import EmbeddedBroker, running_broker


@pytest.fixture(autouse=True)
def log_as_before() -> Iterator[None]:
    """Commands set up the log of their process, which here is that of all tests."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = [each for each in root.handlers if each in handlers]
    root.setLevel(level)


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    """A broker for all tests of a module; each uses topics of its own."""
    with running_broker({"group.initial.rebalance.delay.ms": "0"}) as running:
        yield running


@pytest.fixture
def bootstrap(broker: EmbeddedBroker) -> str:
    """The option that names the broker."""
    return f"--bootstrap-server={broker.bootstrap_servers}"
