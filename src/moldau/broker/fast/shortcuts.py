"""The requests that are common enough to have a way of their own past their handlers."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING

from moldau.broker.dispatch import Dispatcher, MakeShortcut, Shortcut
from moldau.broker.metrics.request_times import ApiTimes
from moldau.broker.routes import ROUTES
from moldau.runtime import native
from moldau.runtime.metrics import Counter

if TYPE_CHECKING:
    from moldau.broker.broker import Broker
    from moldau.broker.fast.fetch import FastFetch
    from moldau.broker.fast.offset_commit import FastOffsetCommit
    from moldau.broker.fast.produce import FastProduce

PRODUCE = 0
FETCH = 1
OFFSET_COMMIT = 8

Kernel = Callable[[str, str], ModuleType]


def make_dispatcher(
    broker: "Broker", shortcuts: Mapping[int, MakeShortcut] | None = None
) -> Dispatcher:
    """The dispatcher of a broker; a shortcut is loaded with the first request of its API."""
    dispatcher = Dispatcher(
        ROUTES,
        broker,
        clock=broker.clock,
        metrics=broker.metrics,
        shortcuts=make_shortcuts(broker) if shortcuts is None else shortcuts,
    )
    dispatcher.quotas = broker.quotas
    return dispatcher


def make_shortcuts(broker: "Broker", kernel: Kernel = native.kernel) -> dict[int, MakeShortcut]:
    """The shortcuts of a broker by API key; `kernel` chooses between their two forms."""

    def fast_produce(times: ApiTimes, counters: dict[int, Counter]) -> Shortcut:
        module = kernel("moldau.broker.fast._produce", "moldau.broker.fast.produce")
        made: FastProduce = module.FastProduce(broker, times.usual, counters)
        return made.respond

    def fast_fetch(times: ApiTimes, counters: dict[int, Counter]) -> Shortcut:
        module = kernel("moldau.broker.fast.fetch", "moldau.broker.fast.fetch")
        made: FastFetch = module.FastFetch(broker, times, counters)
        return made.respond

    def fast_offset_commit(times: ApiTimes, counters: dict[int, Counter]) -> Shortcut:
        module = kernel("moldau.broker.fast._offset_commit", "moldau.broker.fast.offset_commit")
        made: FastOffsetCommit = module.FastOffsetCommit(broker, times.usual, counters)
        return made.respond

    return {PRODUCE: fast_produce, FETCH: fast_fetch, OFFSET_COMMIT: fast_offset_commit}
