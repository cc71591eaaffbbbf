"""A small client: finds leaders and coordinators, asks them, and says what went wrong."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from moldau.client.connection.connection import BrokerConnection
from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from moldau.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from moldau.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from moldau.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

Response = TypeVar("Response")
Address = tuple[str, int]

TOPIC = "events"
"""Where most clients write and read."""
LOOSE = "loose"
"""Where records may get lost with the power."""
TABLE = "table"
"""Where of each key the last record alone is kept."""
START_MS = 1_767_225_600_000
REQUEST_S = 5.0
_CONNECT_S = 2.0
_BACKOFF_S = 0.1

GROUP, TRANSACTION = 0, 1
"""What coordinators are for."""


class Client:
    """Connections to all brokers, made when needed."""

    def __init__(
        self,
        name: str,
        brokers: Mapping[int, Address],
        chance: random.Random,
        timestamp_ms: int = START_MS,
    ) -> None:
        """`timestamp_ms` is what all its records have: brokers forget who wrote old ones."""
        self.name = name
        self.login: tuple[str, str] | None = None
        """User and password, where brokers want them."""
        self.topic = TOPIC
        """The one whose leaders it asks."""
        self.timestamp_ms = timestamp_ms
        self.chance = chance
        self._brokers = brokers
        self._connections: dict[int, BrokerConnection] = {}
        self._leaders: dict[int, int] = {}
        self._coordinators: dict[tuple[int, str], int] = {}
        # A deposed leader may not know it yet: older epochs are not believed (KIP-320).
        self._epochs: dict[int, int] = {}

    @property
    def bootstrap(self) -> str:
        """All brokers, as other clients want them."""
        return ",".join(f"{host}:{port}" for host, port in self._brokers.values())

    @property
    def login_settings(self) -> dict[str, str]:
        """What other clients call the login."""
        if self.login is None:
            return {}
        user, password = self.login
        return {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": password,
        }

    async def ask(
        self, broker: int, request: object, response: type[Response], version: int
    ) -> Response:
        """Ask one broker; KafkaError if there is no answer."""
        connection = await self._connected(broker)
        return await connection.ask(request, response, version, timeout_s=REQUEST_S)

    async def ask_any(self, request: object, response: type[Response], version: int) -> Response:
        """Ask whoever comes first."""
        broker = self.chance.choice(list(self._brokers))
        return await self.ask(broker, request, response, version)

    async def ask_leader(
        self, partition: int, request: object, response: type[Response], version: int
    ) -> Response:
        """Ask the leader of a partition, as far as it is known."""
        leader = self._leaders.get(partition)
        if leader is None:
            leader = await self.find_leader(partition)
        return await self.ask(leader, request, response, version)

    async def reach_leader(self, partition: int) -> None:
        """Have a connection to the leader of a partition."""
        leader = self._leaders.get(partition)
        if leader is None:
            leader = await self.find_leader(partition)
        await self._connected(leader)

    async def ask_coordinator(
        self, kind: int, key: str, request: object, response: type[Response], version: int
    ) -> Response:
        """Ask the coordinator of a group or of a transactional id."""
        coordinator = self._coordinators.get((kind, key))
        if coordinator is None:
            coordinator = await self._find_coordinator(kind, key)
        return await self.ask(coordinator, request, response, version)

    def epoch_of(self, partition: int) -> int:
        """The newest leader epoch that is known of a partition."""
        return self._epochs.get(partition, -1)

    def forget_epochs(self) -> None:
        """Its topic is another one from now on, whose epochs begin anew."""
        self._leaders.clear()
        self._epochs.clear()

    async def back_off(self) -> None:
        """Forget what may have changed, and wait a little."""
        self._leaders.clear()
        self._coordinators.clear()
        await asyncio.sleep(_BACKOFF_S * (0.5 + self.chance.random()))

    async def metadata(self) -> MetadataResponse:
        """What a broker knows of the topic."""
        topics = [MetadataRequestTopic(name=self.topic)]
        request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
        return await self.ask_any(request, MetadataResponse, 12)

    def close(self) -> None:
        """Hang up on everyone."""
        for connection in self._connections.values():
            connection.close()

    async def _connected(self, broker: int) -> BrokerConnection:
        connection = self._connections.get(broker)
        if connection is not None and connection.is_open:
            return connection
        host, port = self._brokers[broker]
        try:
            async with asyncio.timeout(_CONNECT_S):
                made: Any = await asyncio.get_running_loop().create_connection(
                    lambda: BrokerConnection(host, self.name), host, port
                )
        except OSError as error:
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION, f"{host}: {error}") from error
        found: BrokerConnection = made[1]
        if self.login is not None:
            await self._log_in(found, *self.login)
        self._connections[broker] = found
        return found

    async def _log_in(self, connection: BrokerConnection, user: str, password: str) -> None:
        try:
            handshake = SaslHandshakeRequest(mechanism="PLAIN")
            agreed = await connection.ask(handshake, SaslHandshakeResponse, 1, timeout_s=REQUEST_S)
            require(agreed.error_code)
            proof = SaslAuthenticateRequest(auth_bytes=f"\0{user}\0{password}".encode())
            let_in = await connection.ask(proof, SaslAuthenticateResponse, 2, timeout_s=REQUEST_S)
            require(let_in.error_code)
        except KafkaError:
            connection.close()
            raise

    async def find_leader(self, partition: int) -> int:
        """Ask who leads a partition."""
        for topic in (await self.metadata()).topics:
            require(topic.error_code)
            for found in topic.partitions:
                known = self._epochs.get(found.partition_index, -1)
                if found.leader_id in self._brokers and found.leader_epoch >= known:
                    self._leaders[found.partition_index] = found.leader_id
                    self._epochs[found.partition_index] = found.leader_epoch
        if partition not in self._leaders:
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"partition {partition}")
        return self._leaders[partition]

    async def _find_coordinator(self, kind: int, key: str) -> int:
        request = FindCoordinatorRequest(key=key, key_type=kind)
        found = await self.ask_any(request, FindCoordinatorResponse, 3)
        require(found.error_code)
        self._coordinators[kind, key] = found.node_id
        return found.node_id


def require(error_code: int) -> None:
    """Raise an error that an answer carries."""
    if error_code != ErrorCode.NONE:
        raise KafkaError(ErrorCode(error_code), "")


async def insist(work: Callable[[], Awaitable[Response]], client: Client) -> Response:
    """Try until it is done, however long it takes."""
    while True:
        try:
            return await work()
        except KafkaError:
            await client.back_off()
