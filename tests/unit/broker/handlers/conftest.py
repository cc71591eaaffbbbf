"""A broker for the tests of its handlers."""

from collections.abc import AsyncIterator

import pytest

from unit.broker.world import World, broker_world


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """A broker without any topic; a module may have its own with this name."""
    async with broker_world() as world:
        yield world
