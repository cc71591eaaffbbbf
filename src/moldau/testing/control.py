"""Faults on demand: what to do with a request instead of answering it at once."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from moldau.broker.dispatch import Dispatcher
from moldau.broker.routes import Handle
from moldau.errors import ErrorCode, KafkaError
from moldau.net.answer import CloseConnection
from moldau.protocol.apis import APIS

_KEYS = {api.name: api.key for api in APIS}


@dataclass(frozen=True, slots=True)
class Call:
    """One request, as a control function sees it."""

    api: str
    version: int
    client_id: str
    request: Any


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer with this error, wherever the response has a place for one."""

    code: ErrorCode


@dataclass(frozen=True, slots=True)
class Delay:
    """Answer as usual, so much later."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection instead of answering."""


@dataclass(frozen=True, slots=True)
class Lose:
    """Do what is asked, but close the connection instead of answering."""


@dataclass(frozen=True, slots=True)
class Respond:
    """Answer with this response message."""

    response: object


Action = Fail | Delay | Drop | Lose | Respond | None
"""None: answer as usual."""
Decide = Callable[[Call], Action]


class Controls:
    """The control functions of one broker; the newest one that decides anything wins."""

    def __init__(self) -> None:
        self._decisions: dict[str, list[Decide]] = {}
        self._dispatcher: Dispatcher

    def install(self, dispatcher: Dispatcher) -> None:
        """Begin with a broker that has just started."""
        self._dispatcher = dispatcher
        for api in self._decisions:
            self._wrap(api)

    def add(self, api: str, decide: Decide) -> Callable[[], None]:
        """Ask `decide` about each request of an API; returns what takes it away again."""
        if api not in _KEYS:
            raise ValueError(f"no API is called {api!r}; there is {', '.join(sorted(_KEYS))}")
        if api not in self._decisions:
            self._decisions[api] = []
            self._wrap(api)
        decisions = self._decisions[api]
        decisions.append(decide)
        return lambda: decisions.remove(decide)

    def _wrap(self, api: str) -> None:
        self._dispatcher.wrap(_KEYS[api], lambda handle: self._controlled(api, handle))

    def _controlled(self, api: str, handle: Handle) -> Handle:
        async def controlled(request: Any, context: Any, broker: Any) -> Any:
            call = Call(api, context.api_version, context.client_id, request)
            match self._decide(call):
                case Fail(code):
                    raise KafkaError(code, "a control function of the test says so")
                case Delay(seconds):
                    await asyncio.sleep(seconds)
                case Drop():
                    raise CloseConnection("a control function of the test says so")
                case Lose():
                    await handle(request, context, broker)
                    raise CloseConnection("a control function of the test says so")
                case Respond(response):
                    return response
                case None:
                    pass
            return await handle(request, context, broker)

        return controlled

    def _decide(self, call: Call) -> Action:
        for decide in reversed(self._decisions[call.api]):
            action = decide(call)
            if action is not None:
                return action
        return None
