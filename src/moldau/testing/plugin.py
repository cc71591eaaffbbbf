"""The pytest plugin: `def test_x(kafka)` gets a broker of its own."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from moldau.testing.broker import EmbeddedBroker


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    """Settings of the `kafka` fixture's broker; override it in a module or a class."""
    return {}


@pytest.fixture
def kafka(kafka_settings: dict[str, str]) -> Iterator["EmbeddedBroker"]:
    """A real broker in this process, on a free port, with nothing in it."""
    # Only now: a test run that needs no broker does not pay for one.
    from moldau.testing.broker import running_broker  # noqa: PLC0415

    with running_broker(kafka_settings) as broker:
        yield broker
