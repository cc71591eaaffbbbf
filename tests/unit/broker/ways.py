"""The ways that a request can take through a broker: past its handler, or not."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from moldau.broker.context import Client
from moldau.broker.dispatch import Dispatcher, MakeShortcut, Shortcut
from moldau.broker.fast.shortcuts import FETCH, OFFSET_COMMIT, PRODUCE, make_shortcuts
from moldau.broker.metrics.request_times import ApiTimes
from moldau.broker.routes import ROUTES
from moldau.runtime import metrics, native

if TYPE_CHECKING:
    from moldau.broker.broker import Broker

FAST_APIS = (PRODUCE, FETCH, OFFSET_COMMIT)
VERSIONS = {route.api.key: route.versions for route in ROUTES if route.api.key in FAST_APIS}


ROOMS = ("fast", "handlers")


class Way(Enum):
    """How the requests that have a fast path are answered."""

    HANDLER = "handler"
    FAST = "fast"
    """By the fast path where it can, from the first request on; compiled, if that was built."""
    UNCOMPILED = "uncompiled"


class FastPaths:
    """The fast paths of a broker, which count what they have answered and what they have left."""

    def __init__(self, broker: "Broker", way: Way) -> None:
        kernel = _source if way is Way.UNCOMPILED else native.kernel
        made = {} if way is Way.HANDLER else make_shortcuts(broker, kernel)
        self.answered: Counter[int] = Counter()
        self.left: Counter[int] = Counter()
        self.shortcuts = {key: self._counted(key, make) for key, make in made.items()}

    def _counted(self, api_key: int, make: MakeShortcut) -> MakeShortcut:
        def make_counted(times: ApiTimes, counters: dict[int, metrics.Counter]) -> Shortcut:
            shortcut = make(times, counters)

            def respond(client: Client, frame: memoryview) -> object:
                answer = shortcut(client, frame)
                counts = self.left if answer is None else self.answered
                counts[api_key] += 1
                return answer

            return respond  # type: ignore[return-value]

        return make_counted


@contextmanager
def sources(way: Way) -> Iterator[None]:
    """Run what modules have imported in compiled form from its source, if a way asks for that."""
    with pytest.MonkeyPatch.context() as patch:
        if way is Way.UNCOMPILED:
            fast, handler = (import_module(f"moldau.broker.{room}.fetch") for room in ROOMS)
            for codec in ("fetch_frame", "fetch_answer"):
                patch.setattr(fast, codec, import_module(f"moldau.broker.fast.{codec}"))
            operations = import_module("moldau.broker.requests.fetch")
            patch.setattr(fast, "is_long", operations.is_long)
            for module in (fast, handler):
                patch.setattr(module, "FetchOperation", operations.FetchOperation)
        yield


def warm_up(dispatcher: Dispatcher, frame: bytes | bytearray) -> None:
    """Load the fast path that a request would load otherwise, and then not take."""
    if len(frame) < 4:
        return
    api_key = int.from_bytes(frame[:2], "big", signed=True)
    version = int.from_bytes(frame[2:4], "big", signed=True)
    if version in VERSIONS.get(api_key, ()):
        dispatcher.prepare(api_key, version)


def take(way: Way, dispatcher: Dispatcher) -> None:
    """Let a dispatcher that was made with fast paths answer one way or the other."""
    for api_key, versions in VERSIONS.items():
        if way is Way.HANDLER:
            dispatcher.wrap(api_key, lambda handle: handle)
        for version in versions:
            dispatcher.prepare(api_key, version)


def _source(_compiled: str, source: str) -> ModuleType:
    return import_module(source)
