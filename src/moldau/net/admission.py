"""How many connections a broker takes: in all, on each listener, of each address, per second."""

import asyncio
import socket
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from moldau.net.connection import Connection

_COUNT_MAX = 2**31 - 1
HELD_MAX = 1_000
"""Callers that are kept waiting because their address calls too often; more are hung up on."""


@dataclass(frozen=True, slots=True)
class ListenerLimits:
    """What holds for one listener beside what holds for all of them together."""

    connections_max: int = _COUNT_MAX
    connections_per_s: float = inf


_UNLIMITED = ListenerLimits()


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections a broker keeps, and for how long a client may keep it waiting."""

    connections_max: int = _COUNT_MAX
    connections_per_ip_max: int = _COUNT_MAX
    connections_max_by_ip: Mapping[str, int] = field(default_factory=dict)
    """Addresses with another limit than the others."""
    connections_per_s: float = inf
    of_listeners: Mapping[str, ListenerLimits] = field(default_factory=dict)
    """By the name of the listener in lower case."""
    protected_listener: str | None = None
    """Its connections are taken above the common limit, and another one is closed (KIP-402)."""
    idle_s: float = 600.0
    # Kafka has no deadline for a frame; without one a slow client holds its memory for ever.
    frame_s: float = 60.0
    write_stall_s: float = 60.0
    handshake_s: float = 10.0
    """For TLS and SASL together."""


@dataclass(frozen=True, slots=True)
class _Guest:
    listener: str
    ip: str


class AddressRates(Protocol):
    """How many connections addresses may open per second."""

    def delay_s(self, address: str, now_s: float) -> float:
        """Count a new connection; if it is one too many, how long it is kept waiting."""


class NoAddressRates:
    """As many as they like."""

    def delay_s(self, address: str, now_s: float) -> float:  # noqa: ARG002 - as the port has it
        return 0.0


class Admission:
    """Counts the connections of all listeners of one broker, and decides which to accept."""

    def __init__(self, limits: ConnectionLimits, rates: AddressRates | None = None) -> None:
        self._limits = limits
        self._rates = rates or NoAddressRates()
        self._held: dict[socket.socket, asyncio.TimerHandle] = {}
        self._guests: dict[Connection, _Guest] = {}
        self._on_listener: Counter[str] = Counter()
        self._of_ip: Counter[str] = Counter()
        self._has_changed = asyncio.Event()
        # When the next one may come, for all listeners (None) and for each.
        self._next_s: defaultdict[str | None, float] = defaultdict(float)

    @property
    def limits(self) -> ConnectionLimits:
        """What holds now; it may change while the broker runs."""
        return self._limits

    @limits.setter
    def limits(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._has_changed.set()

    def room_on(self, listener: str) -> int:
        """How many more a listener may take."""
        room = self._own(listener).connections_max - self._on_listener[listener]
        if listener == self._limits.protected_listener:
            return room
        return min(room, self._limits.connections_max - len(self._guests))

    async def until_room(self, listener: str) -> None:
        """Wait until a listener may accept a connection."""
        while self.room_on(listener) <= 0:
            self._has_changed.clear()
            await self._has_changed.wait()

    def at_once(self, listener: str) -> float:
        """How many a listener may take now that `wait_s` is 0."""
        rate = self._own(listener).connections_per_s
        if listener != self._limits.protected_listener:
            rate = min(rate, self._limits.connections_per_s)
        return min(self.room_on(listener), max(rate, 1))

    def wait_s(self, listener: str, now_s: float) -> float:
        """How long a listener must accept none, so as not to accept too many a second.

        Brokers need not wait because of clients: the common limit is not theirs (KIP-612).
        """
        wait_s = max(0.0, self._next_s[listener] - now_s)
        if listener == self._limits.protected_listener:
            return wait_s
        return max(wait_s, self._next_s[None] - now_s)

    def took(self, listener: str, count: int, now_s: float) -> None:
        """A listener has taken so many."""
        is_protected = listener == self._limits.protected_listener
        for key, rate in (
            (None, inf if is_protected else self._limits.connections_per_s),
            (listener, self._own(listener).connections_per_s),
        ):
            if rate < inf:
                self._next_s[key] = max(now_s, self._next_s[key]) + count / rate

    def holds(self, caller: socket.socket) -> bool:
        """Whether a caller is one too many of its address (KIP-612).

        It is not refused at once, or it would call again at once: it is kept, unread, and then
        hung up on. It does not count as a connection.
        """
        try:
            address = plain(caller.getpeername()[0])
        except (OSError, IndexError):
            return False  # which is found out where it is connected
        loop = asyncio.get_running_loop()
        delay_s = self._rates.delay_s(address, loop.time())
        if delay_s <= 0:
            return False
        if len(self._held) < HELD_MAX:
            self._held[caller] = loop.call_later(delay_s, self._let_go, caller)
        else:
            caller.close()
        return True

    def let_all_go(self) -> None:
        """Hang up on the callers that are kept waiting."""
        for caller in tuple(self._held):
            self._let_go(caller)

    def _let_go(self, caller: socket.socket) -> None:
        self._held.pop(caller).cancel()
        caller.close()

    def opened(self, connection: "Connection", listener: str) -> bool:
        """Count a new connection; False if its address has too many."""
        ip = plain(connection.transport.get_extra_info("peername", ("?",))[0])
        limits = self._limits
        self._guests[connection] = _Guest(listener, ip)
        self._on_listener[listener] += 1
        self._of_ip[ip] += 1
        if len(self._guests) > limits.connections_max and listener == limits.protected_listener:
            self._make_way()
        allowed = limits.connections_max_by_ip.get(ip, limits.connections_per_ip_max)
        return self._of_ip[ip] <= allowed

    def closed(self, connection: "Connection") -> None:
        """Forget a connection."""
        guest = self._guests.pop(connection)
        self._on_listener[guest.listener] -= 1
        self._of_ip[guest.ip] -= 1
        if not self._of_ip[guest.ip]:
            del self._of_ip[guest.ip]
        self._has_changed.set()

    def _own(self, listener: str) -> ListenerLimits:
        return self._limits.of_listeners.get(listener.lower(), _UNLIMITED)

    def _make_way(self) -> None:
        """Hang up on the one of another listener that was silent for longest."""
        others = [
            connection
            for connection, guest in self._guests.items()
            if guest.listener != self._limits.protected_listener
        ]
        if others:
            min(others, key=lambda connection: connection.last_activity_s).abort()


def plain(address: str) -> str:
    """An IPv4 address as such, also where it came in on a socket for both families."""
    return address.removeprefix("::ffff:")
