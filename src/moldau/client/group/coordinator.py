"""The broker that coordinates a group, or a transactional id: found, and found again."""

import asyncio
from typing import TypeVar

from moldau.client.connection.addresses import Address
from moldau.client.connection.cluster import Cluster
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

Response = TypeVar("Response")

CHANNEL = "group"
GROUP = 0
TRANSACTION = 1


class Coordinator:
    """Sends requests to the current coordinator of a group or of a transactional id."""

    def __init__(self, cluster: Cluster, name: str, kind: int = GROUP) -> None:
        self.cluster = cluster
        self.name = name
        self.kind = kind
        self._node_id: int | None = None
        self._finding = asyncio.Lock()

    async def ask(
        self,
        request: object,
        response: type[Response],
        *,
        channel: str = CHANNEL,
        timeout_s: float | None = None,
    ) -> Response:
        """Ask the coordinator; errors in its answer are for the caller to read."""
        node_id = await self._find()
        return await self.cluster.ask(
            node_id, request, response, channel=channel, timeout_s=timeout_s
        )

    async def newest_version(self, api_key: int) -> int:
        """The version in which the coordinator would be asked."""
        broker = await self.cluster.broker(await self._find(), CHANNEL)
        return broker.versions.newest(api_key)

    def forget(self) -> None:
        """Look for the coordinator before the next request."""
        self._node_id = None

    async def _find(self) -> int:
        async with self._finding:
            if self._node_id is None:
                request = FindCoordinatorRequest(key=self.name, key_type=self.kind)
                answer = await self.cluster.ask_any(request, FindCoordinatorResponse)
                if answer.error_code:
                    code = ErrorCode(answer.error_code)
                    raise KafkaError(code, f"{self.name} has no coordinator")
                address = Address(answer.host, answer.port)
                self.cluster.metadata.brokers.setdefault(answer.node_id, address)
                self._node_id = answer.node_id
            return self._node_id
