"""This broker's place in the cluster, session by session.

In each session it registers and stands for election. When a session is lost the broker is
no longer controller, whatever it was, before it begins the next one and registers anew.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence

from moldau.broker.membership.registration import Registration
from moldau.controller.service import ControllerService
from moldau.coordination.layout.brokers import BrokerRegistration
from moldau.coordination.sessions import Sessions
from moldau.coordination.tree import ConnectionLost, SessionLost, Tree

_log = logging.getLogger(__name__)

_RETRY_S = 0.1

Service = Callable[[], Coroutine[None, None, None]]
StartOffice = Callable[[Tree], ControllerService]
"""Makes the controller service of a session, and makes it known to the broker."""


class ClusterMembership:
    """Registered and candidate, for as long as the broker runs."""

    def __init__(
        self,
        sessions: Sessions,
        registration: Registration,
        node: BrokerRegistration,
        start_office: StartOffice,
        companions: Sequence[Service],
    ) -> None:
        """`companions` run as long as a session, and are started anew with the next."""
        self._sessions = sessions
        self._registration = registration
        self._node = node
        self._start_office = start_office
        self._companions = companions
        self._controller: ControllerService

    async def join(self) -> None:
        """Register in the session that there is, or in the next one."""
        try:
            await self._register()
        except SessionLost:
            await self._rejoin()
        else:
            self._controller = self._start_office(self._sessions.session)

    async def run(self) -> None:
        """Take part, in one session after the other, until cancelled."""
        while True:
            await self._take_part()
            await self._rejoin()

    async def _take_part(self) -> None:
        """Work as far as it depends on the session, until that is lost."""
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(service()) for service in self._companions]
            try:
                await self._controller.run()
            except SessionLost:
                _log.warning("Session lost: opening another one")
            finally:
                for task in running:
                    task.cancel()

    async def _rejoin(self) -> None:
        self._registration.is_current = False
        while True:
            await self._sessions.renew()
            try:
                await self._register()
            except SessionLost:
                continue
            self._controller = self._start_office(self._sessions.session)
            return

    async def _register(self) -> None:
        while True:
            try:
                await self._registration.register(self._sessions.session, self._node)
            except ConnectionLost:
                await asyncio.sleep(_RETRY_S)
            else:
                return
