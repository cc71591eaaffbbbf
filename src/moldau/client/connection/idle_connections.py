"""Closes connections over which nothing has gone for a while."""

import asyncio
from collections.abc import Hashable, MutableMapping
from typing import TypeVar

from moldau.client.connection.connection import BrokerConnection
from moldau.client.connection.opening import OpenBroker

Key = TypeVar("Key", bound=Hashable)

_LOOKS = 4


class IdleConnections:
    """Looks four times in `connections.max.idle.ms`; a client that asks nothing pays no more."""

    def __init__(self, brokers: MutableMapping[Key, OpenBroker], idle_max_ms: int) -> None:
        self._brokers = brokers
        self._interval_s = idle_max_ms / 1000 / _LOOKS
        self._idle_looks: dict[BrokerConnection, tuple[int, int]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        """There are connections."""
        if self._timer is None and self._interval_s > 0:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._interval_s, self.look)

    def stop(self) -> None:
        """All connections are closed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def look(self) -> None:
        """Close what was idle at each of the last looks, and come back later."""
        self._timer = None
        seen: dict[BrokerConnection, tuple[int, int]] = {}
        for key, broker in list(self._brokers.items()):
            connection = broker.connection
            count, looks = self._idle_looks.get(connection, (-1, 0))
            is_idle = not connection.is_waiting and count == connection.request_count
            looks = looks + 1 if is_idle else 0
            if looks >= _LOOKS:
                connection.close()
                del self._brokers[key]
            elif connection.is_open:
                seen[connection] = connection.request_count, looks
        self._idle_looks = seen
        if seen:
            self.watch()
