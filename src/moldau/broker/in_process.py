"""Requests of a broker to itself, which need no socket."""

from moldau.broker.context import Client, Context
from moldau.broker.dispatch import Dispatcher
from moldau.config.versions import LATEST
from moldau.protocol.declaration import facts_of
from moldau.protocol.inter_broker import version_of

_THIS_BROKER = Client("", "", "", 0, is_this_broker=True)


class InProcess:
    """Delivers requests of a broker to itself."""

    def __init__(self, dispatcher: Dispatcher, *, protocol: str = LATEST) -> None:
        """`protocol` is `inter.broker.protocol.version`."""
        self._dispatcher = dispatcher
        self._protocol = protocol

    async def send(self, request: object) -> object:
        """Have the request answered as if it had come from another broker."""
        key = facts_of(type(request)).api_key
        assert key is not None, "only requests are sent"
        version = version_of(type(request), self._protocol)
        return await self._dispatcher.answer(key, request, Context(version, "broker", _THIS_BROKER))
