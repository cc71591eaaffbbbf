"""Connections to a cluster for code that blocks and has nothing else to do meanwhile."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from moldau.client.connection.cluster import Cluster
from moldau.client.settings import ConsumerSettings, read_settings

Result = TypeVar("Result")


class Link:
    """A cluster's brokers, without a thread: the event loop runs only while a caller waits.

    What was sent before is answered meanwhile all the same: the answer lies in the socket.
    """

    def __init__(self, client: Iterable[tuple[str, str]]) -> None:
        self.settings: ConsumerSettings = read_settings(ConsumerSettings, dict(client), {})
        self.cluster = Cluster(self.settings, creates_topics=False)
        self._loop = asyncio.new_event_loop()

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run the loop until this is done."""
        return self._loop.run_until_complete(work)

    def begin(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Have something done while the loop runs; what can be sent at once is sent at once."""
        task = self._loop.create_task(work)
        self.wait(asyncio.sleep(0))
        return task

    def close(self) -> None:
        """Hang up."""
        if self._loop.is_closed():
            return
        self.cluster.close()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self.wait(_settle(left))
        self.wait(self._loop.shutdown_default_executor())
        self._loop.close()


async def _settle(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Let what was cancelled or closed come to its end."""
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0)
