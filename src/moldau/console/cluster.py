"""One cluster as the console sees it: connected when it is first asked for, and again later."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from moldau.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin

CONNECT_S = 3.0
ANSWER_S = 5.0
"""How long a page waits for brokers; what did not answer by then is marked."""


class ConsoleCluster:
    """A name, the settings of clients, and an admin client that all requests share."""

    def __init__(self, name: str, settings: Mapping[str, object]) -> None:
        self.name = name
        self.settings = dict(settings)
        self._admin: Admin | None = None
        self._connecting = asyncio.Lock()

    async def admin(self) -> "Admin":
        """The admin client; a NETWORK_EXCEPTION if no broker answers soon."""
        if self._admin is not None:
            return self._admin
        async with self._connecting:
            if self._admin is None:
                self._admin = await self._connect()
        return self._admin

    async def _connect(self) -> "Admin":
        from moldau.client.admin.admin import Admin  # noqa: PLC0415 - the first page is faster

        limit_ms = int(ANSWER_S * 1000)
        admin = Admin(
            {
                "client.id": "moldau-console",
                **self.settings,
                "default.api.timeout.ms": limit_ms,
                "request.timeout.ms": limit_ms,
            }
        )
        servers = self.settings.get("bootstrap.servers", "")
        try:
            async with asyncio.timeout(CONNECT_S):
                await admin.start()
        except (TimeoutError, OSError) as error:
            raise KafkaError(
                ErrorCode.NETWORK_EXCEPTION, f"no broker answers at {servers}"
            ) from error
        return admin

    async def close(self) -> None:
        """Hang up."""
        admin, self._admin = self._admin, None
        if admin is not None:
            with suppress(KafkaError):
                await admin.close()
