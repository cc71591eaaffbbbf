"""A broker for the tests of its handlers; what has a fast path is tested in every way."""

from collections.abc import AsyncIterator

import pytest

from unit.broker import world as world_module
from unit.broker.ways import Way
from unit.broker.world import World, broker_world

FAST_MODULES = ("test_produce", "test_fetch", "test_offset_commit")
# They start real brokers, and say themselves which way these take.
WITHOUT_WORLD = ("test_fetch_nearest", "test_fetch_throttled")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every module of an API that has a fast path, as it may be forgotten in one of them."""
    name = metafunc.module.__name__.rpartition(".")[2]
    if name.startswith(FAST_MODULES) and name not in WITHOUT_WORLD:
        metafunc.parametrize("way", Way, ids=[way.value for way in Way], indirect=True)


@pytest.fixture(autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Way:
    """How the broker of a test answers."""
    taken: Way = getattr(request, "param", world_module.default_way)
    monkeypatch.setattr(world_module, "default_way", taken)
    return taken


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """A broker without any topic; a module may have its own with this name."""
    async with broker_world() as world:
        yield world
