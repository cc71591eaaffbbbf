"""The requests that are common enough to have a way of their own past their handlers."""

from typing import TYPE_CHECKING

from moldau.broker.dispatch import Dispatcher, Shortcut
from moldau.broker.follower_question import is_in_session
from moldau.broker.request_times import ApiTimes
from moldau.broker.routes import ROUTES
from moldau.net.answer import Parked, Part
from moldau.runtime import native
from moldau.runtime.metrics import Counter

if TYPE_CHECKING:
    from moldau.broker.broker import Broker
    from moldau.broker.commit_express import CommitExpress
    from moldau.broker.express import Express
    from moldau.broker.fetch_express import FetchExpress
    from moldau.broker.follower_express import FollowerExpress

PRODUCE = 0
FETCH = 1
OFFSET_COMMIT = 8


def make_dispatcher(broker: "Broker") -> Dispatcher:
    """The dispatcher of a broker; a shortcut is loaded with the first request of its API."""

    def express(times: ApiTimes, counters: dict[int, Counter]) -> Shortcut:
        module = native.kernel("moldau.broker._express", "moldau.broker.express")
        made: Express = module.Express(broker, times.usual, counters)
        return made.respond

    def fetch_express(times: ApiTimes, counters: dict[int, Counter]) -> Shortcut:
        module = native.kernel("moldau.broker._fetch_express", "moldau.broker.fetch_express")
        consumers: FetchExpress = module.FetchExpress(broker, times.usual, counters)
        module = native.kernel("moldau.broker._follower_express", "moldau.broker.follower_express")
        followers: FollowerExpress = module.FollowerExpress(broker, times.followers, counters)

        def respond(frame: memoryview) -> list[Part] | Parked | None:
            way = followers if is_in_session(frame) else consumers
            return way.respond(frame)

        return respond

    def commit_express(times: ApiTimes, counters: dict[int, Counter]) -> Shortcut:
        module = native.kernel("moldau.broker._commit_express", "moldau.broker.commit_express")
        made: CommitExpress = module.CommitExpress(broker, times.usual, counters)
        return made.respond

    return Dispatcher(
        ROUTES,
        broker,
        clock=broker.clock,
        metrics=broker.metrics,
        shortcuts={PRODUCE: express, FETCH: fetch_express, OFFSET_COMMIT: commit_express},
    )
