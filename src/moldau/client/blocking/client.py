"""What all clients for code that blocks have: the thread in which an asyncio client works."""

from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from moldau.client.blocking.loop_thread import LoopThread


class AsyncClient(Protocol):
    """A client that has to be started and closed."""

    async def start(self) -> None:
        """Connect."""

    async def close(self) -> None:
        """Hang up."""


Client = TypeVar("Client", bound=AsyncClient)


class BlockingClient(Generic[Client]):
    """Starts a client when it is made, and closes it when its `with` block is left."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.thread = LoopThread(name)
        try:
            self.thread.call(client.start())
        except BaseException:
            self.thread.close()
            raise

    def close(self) -> None:
        """End what was begun, as leaving the `with` block does, and hang up."""
        if not self.thread.is_closed:
            try:
                self.thread.call(self.client.close())
            finally:
                self.thread.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
