"""Methods of asyncio clients for code that blocks: same names, same types, no `await`."""

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from moldau.client.blocking.loop_thread import LoopThread

Client = TypeVar("Client")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Client_co = TypeVar("Client_co", covariant=True)


class Facade(Protocol[Client_co]):
    """An object in whose class mirrored methods may stand."""

    @property
    def client(self) -> Client_co:
        """The client that does the work."""

    @property
    def thread(self) -> LoopThread:
        """Where it works."""


class Mirrored(Generic[Client, Parameters, Result]):
    """Calls the method of the client in its own thread, and waits for what it returns."""

    def __init__(
        self,
        method: Callable[Concatenate[Client, Parameters], Coroutine[Any, Any, Result]],
    ) -> None:
        self._method = method

    def __get__(self, facade: Facade[Client], _: type) -> Callable[Parameters, Result]:
        def call(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
            return facade.thread.call(self._method(facade.client, *arguments, **keywords))

        update_wrapper(call, self._method)
        return call
