"""Holds a connection to each broker that matters, and says whose process is gone.

A controller watches all brokers, the others watch the controller. What connections say is judged
by `presence.py`; here they are made, and waited for.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Protocol

from moldau.controller.cluster import LiveBroker
from moldau.controller.presence import Presence, Sign
from moldau.runtime.clock import Clock

_log = logging.getLogger(__name__)


class Contact(Protocol):
    """A way to one broker, of this part alone."""

    async def call(self) -> None:
        """Have the broker answer on a connection; OSError if it does not."""

    async def until_lost(self) -> None:
        """Return when that connection has ended."""

    def close(self) -> None:
        """Hang up."""


OpenContact = Callable[[LiveBroker], Contact]


class Lookout:
    """Watches brokers, each in one of its registrations."""

    def __init__(
        self,
        tasks: asyncio.TaskGroup,
        open_contact: OpenContact,
        clock: Clock,
        *,
        changed: Callable[[], None],
    ) -> None:
        """`changed` is called when a broker is found to be gone, or back."""
        self._tasks = tasks
        self._open_contact = open_contact
        self._clock = clock
        self._changed = changed
        self._watched: dict[LiveBroker, tuple[Presence, asyncio.Task[None]]] = {}

    def watch(self, brokers: Iterable[LiveBroker]) -> None:
        """Watch these, and no others; what is known of those among them is kept."""
        wanted = dict.fromkeys(brokers)
        for broker in [one for one in self._watched if one not in wanted]:
            self._watched.pop(broker)[1].cancel()
        for broker in wanted:
            if broker not in self._watched:
                presence = Presence()
                task = self._tasks.create_task(self._keep(broker, presence))
                self._watched[broker] = presence, task

    def is_gone(self, broker: LiveBroker) -> bool:
        """Whether the process of a registered broker is gone."""
        return broker in self._watched and self._watched[broker][0].is_gone

    async def _keep(self, broker: LiveBroker, presence: Presence) -> None:
        contact = self._open_contact(broker)
        try:
            while True:
                sign = await _call(contact)
                if presence.note(sign, now_ms=self._clock.monotonic_ms()):
                    if presence.is_gone:
                        _log.warning("Broker %d is gone: its connections are refused", broker.id)
                    else:
                        _log.warning("Broker %d is back: it answers again", broker.id)
                    self._changed()
                if sign is Sign.ANSWERED:
                    await contact.until_lost()
                wait_ms = presence.wait_ms(now_ms=self._clock.monotonic_ms())
                await asyncio.sleep(wait_ms / 1000)
        finally:
            contact.close()


async def _call(contact: Contact) -> Sign:
    try:
        await contact.call()
    except ConnectionRefusedError:
        return Sign.REFUSED
    except (OSError, ValueError, OverflowError):
        # The latter two where a registration names a host or a port that cannot be.
        return Sign.SILENT
    return Sign.ANSWERED
