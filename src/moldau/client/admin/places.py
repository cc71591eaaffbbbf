"""Which broker answers for what: the controller, coordinators, leaders, or any."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from moldau.client.connection.addresses import Address
from moldau.client.connection.cluster import Cluster
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

Key = TypeVar("Key")

GROUP = 0
TRANSACTION = 1

_FIND_COORDINATOR = 10
_SINCE_SEVERAL = 4
_AT_ONCE = 1000

# A topic that was just created may be unknown to the broker that is asked.
_LOOKS_MAX = 3


class Places(ABC, Generic[Key]):
    """Which broker answers for an item."""

    async def look_up(self, keys: Sequence[Key]) -> None:
        """Find several with few requests; `find` says what is wrong with those that fail."""

    @abstractmethod
    async def find(self, key: Key) -> int:
        """The broker's number."""

    def forget(self, key: Key) -> None:
        """The broker did not answer for it: look again."""


class Anywhere(Places[Key]):
    """Any broker will do: one and the same for all items, until it fails."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._chosen: int | None = None
        self._failed: set[int] = set()

    async def find(self, key: Key) -> int:  # noqa: ARG002 - the same for all
        if not self._cluster.metadata.brokers:
            await self._cluster.refresh()
        brokers = self._cluster.metadata.brokers
        if self._chosen not in brokers:
            # All may have failed by now: then the first is as good as any.
            sound = [node_id for node_id in brokers if node_id not in self._failed]
            # One that hangs has lost its connection: those that answered are asked before it.
            connected = [node_id for node_id in sound if self._cluster.connected(node_id)]
            self._chosen = next(iter(connected or sound or brokers))
        return self._chosen

    def forget(self, key: Key) -> None:  # noqa: ARG002
        if self._chosen is not None:
            self._failed.add(self._chosen)
        self._chosen = None
        self._cluster.metadata.brokers.clear()


class ByNumber(Places[int]):
    """The items are brokers."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def find(self, key: int) -> int:
        if key not in self._cluster.metadata.brokers:
            await self._cluster.refresh()
        if key not in self._cluster.metadata.brokers:
            raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, f"there is no broker {key}")
        return key


class AtController(Places[Key]):
    """The controller answers for all items."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def find(self, key: Key) -> int:  # noqa: ARG002
        metadata = self._cluster.metadata
        if metadata.controller_id not in metadata.brokers:
            await self._cluster.refresh()
        if metadata.controller_id not in metadata.brokers:
            raise KafkaError(ErrorCode.NOT_CONTROLLER, "the cluster has no controller now")
        return metadata.controller_id

    def forget(self, key: Key) -> None:  # noqa: ARG002
        self._cluster.metadata.controller_id = -1


class AtLeaders(Places[TopicPartition]):
    """The leader of a partition answers for it."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._looked_for: set[TopicPartition] = set()
        """What was not found together with others: each alone is not looked for again."""

    async def look_up(self, keys: Sequence[TopicPartition]) -> None:
        unknown = self._unknown(keys)
        if len(unknown) <= 1:
            return
        for look in range(_LOOKS_MAX):
            if look > 0:
                await self._cluster.back_off()
            await self._cluster.refresh(sorted({key.topic for key in unknown}))
            unknown = self._unknown(unknown)
            if not unknown:
                return
        self._looked_for.update(unknown)

    def _unknown(self, keys: Sequence[TopicPartition]) -> list[TopicPartition]:
        leader_of = self._cluster.metadata.leader_of
        return [key for key in keys if leader_of(key) is None]

    async def find(self, key: TopicPartition) -> int:
        leader = self._cluster.metadata.leader_of(key)
        looks = _LOOKS_MAX if key in self._looked_for else 0
        self._looked_for.discard(key)
        while leader is None and looks < _LOOKS_MAX:
            if looks > 0:
                await self._cluster.back_off()
            looks += 1
            await self._cluster.refresh([key.topic])
            leader = self._cluster.metadata.leader_of(key)
        if leader is None:
            error = self._failure(key)
            if error.code is not ErrorCode.LEADER_NOT_AVAILABLE:
                self._cluster.forget_topic(key.topic)
            raise error
        return leader

    def forget(self, key: TopicPartition) -> None:
        self._cluster.metadata.doubt(key)

    def _failure(self, key: TopicPartition) -> KafkaError:
        topic = self._cluster.metadata.topics.get(key.topic)
        if topic is not None and topic.error_code:
            return KafkaError(topic.error_code, f"{key}: {topic.error_code.name}")
        if topic is not None and key.partition in topic.leaders:
            return KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"{key} has no leader now")
        return KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no partition {key}")


class AtCoordinators(Places[str]):
    """The coordinator of a group, or of a transactional id, answers for it."""

    def __init__(self, cluster: Cluster, kind: int) -> None:
        self._cluster = cluster
        self._kind = kind
        self._found: dict[str, int] = {}

    async def look_up(self, keys: Sequence[str]) -> None:
        unknown = [key for key in keys if key not in self._found]
        if len(unknown) <= 1:
            return
        broker = await self._cluster.any_broker()
        if not broker.versions.speaks(_FIND_COORDINATOR, _SINCE_SEVERAL):
            return
        for start in range(0, len(unknown), _AT_ONCE):
            request = FindCoordinatorRequest(
                coordinator_keys=unknown[start : start + _AT_ONCE], key_type=self._kind
            )
            answer = await broker.connection.ask(
                *(request, FindCoordinatorResponse, _SINCE_SEVERAL),
                timeout_s=self._cluster.timeout_s,
            )
            for each in answer.coordinators:
                if not each.error_code:
                    self._note(each.key, each.node_id, Address(each.host, each.port))

    async def find(self, key: str) -> int:
        if key not in self._found:
            request = FindCoordinatorRequest(key=key, key_type=self._kind)
            answer = await self._cluster.ask_any(request, FindCoordinatorResponse)
            if answer.error_code:
                code = ErrorCode(answer.error_code)
                raise KafkaError(code, answer.error_message or f"{key} has no coordinator")
            self._note(key, answer.node_id, Address(answer.host, answer.port))
        return self._found[key]

    def _note(self, key: str, node_id: int, address: Address) -> None:
        self._cluster.metadata.brokers.setdefault(node_id, address)
        self._found[key] = node_id

    def forget(self, key: str) -> None:
        self._found.pop(key, None)


class AtCoordinatorOf(Places[Key]):
    """One coordinator answers for all items: they belong to one group or transaction."""

    def __init__(self, coordinators: AtCoordinators, name: str) -> None:
        self._coordinators = coordinators
        self._name = name

    async def find(self, key: Key) -> int:  # noqa: ARG002
        return await self._coordinators.find(self._name)

    def forget(self, key: Key) -> None:  # noqa: ARG002
        self._coordinators.forget(self._name)
