"""Requests of a broker to itself, which need no socket."""

from moldau.broker.context import Client, Context
from moldau.broker.dispatch import Dispatcher
from moldau.protocol.apis import API_BY_KEY
from moldau.protocol.declaration import facts_of

_NOBODY = Client("", "", "", 0)


class InProcess:
    """Delivers requests to the one broker of a cluster of one."""

    def __init__(self, broker_id: int, dispatcher: Dispatcher) -> None:
        self._broker_id = broker_id
        self._dispatcher = dispatcher

    async def send(self, broker_id: int, request: object) -> object:
        """Have the request answered as if it had come in the newest version."""
        assert broker_id == self._broker_id, "there is only one broker on the embedded store"
        key = facts_of(type(request)).api_key
        assert key is not None
        version = API_BY_KEY[key].versions.stop - 1
        return await self._dispatcher.answer(key, request, Context(version, "broker", _NOBODY))
