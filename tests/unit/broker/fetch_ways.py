"""The ways of a Fetch request to the operation that answers it; a rule holds on all of them."""

from typing import Any

import pytest

from moldau.broker.fast import fetch as fast_fetch
from moldau.broker.fast import fetch_answer, fetch_frame
from moldau.broker.handlers import fetch as fetch_handler
from moldau.broker.requests import fetch as operations
from unit.broker.sample_requests import NEWEST_FETCH, fetch
from unit.broker.world import World

FETCH = 1
HANDLER, FAST, UNCOMPILED = "handler", "fast", "fast, uncompiled"
WAYS = (HANDLER, FAST, UNCOMPILED)


async def take_way(world: World, way: str, patch: pytest.MonkeyPatch) -> list[Any]:
    """Have all requests go one way; returns a list of those that the handler gets all the same.

    The first request of a version goes to the handler, so each is sent once.
    """
    if way == UNCOMPILED:
        use_sources(patch)
    if way == HANDLER:
        world.dispatcher.wrap(FETCH, lambda handle: handle)
    for version in range(NEWEST_FETCH + 1):
        await world.ask(fetch(), version)
    handled: list[Any] = []
    served = world.dispatcher._served[FETCH]
    handle = served.handle

    def seeing(request: Any, context: Any, broker: Any) -> Any:
        handled.append(request)
        return handle(request, context, broker)

    served.handle = seeing
    return handled


def use_sources(patch: pytest.MonkeyPatch) -> None:
    """Run what is compiled from its Python source."""
    patch.setattr(fast_fetch, "fetch_frame", fetch_frame)
    patch.setattr(fast_fetch, "fetch_answer", fetch_answer)
    for module in (fast_fetch, fetch_handler):
        patch.setattr(module, "FetchOperation", operations.FetchOperation)
