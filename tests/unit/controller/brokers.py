"""A controller over a tree in memory, and brokers that only note what they are told."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeVar

from moldau.controller.outbox import Request
from moldau.controller.service import ControllerService, Rules
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.brokers import BrokerRegistration, RegisteredEndpoint
from moldau.coordination.layout.configs import ConfigEntity, encode_config
from moldau.coordination.layout.roots import PERSISTENT_PATHS, with_parents
from moldau.coordination.layout.topics import PartitionAssignment, TopicAssignment
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.tree import Create, Delete, NodeExists, Tree
from moldau.errors import ErrorCode
from moldau.model import TopicPartition, format_uuid
from moldau.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from moldau.protocol.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from moldau.protocol.messages.update_metadata import UpdateMetadataRequest

NOW_MS = 1_000
UNCLEAN = "unclean.leader.election.enable"
RULES = Rules(is_unclean_allowed=lambda _topic, settings: settings.get(UNCLEAN) == "true")

RequestType = TypeVar("RequestType", LeaderAndIsrRequest, UpdateMetadataRequest, StopReplicaRequest)


class StandingClock:
    """A clock that does not move."""

    def now_ms(self) -> int:
        return NOW_MS

    def monotonic_ms(self) -> int:
        return NOW_MS

    def monotonic_ns(self) -> int:
        return NOW_MS * 1_000_000


class Brokers:
    """All brokers that a controller may write to."""

    def __init__(self) -> None:
        self.requests: list[tuple[int, Request]] = []
        self.stop_error = ErrorCode.NONE
        self.unreachable: set[int] = set()

    async def send(self, broker_id: int, request: Request) -> object:
        """Take a request and answer it."""
        self.requests.append((broker_id, request))
        await asyncio.sleep(0)
        if broker_id in self.unreachable:
            raise ConnectionError("unreachable")
        if isinstance(request, StopReplicaRequest):
            errors = [
                StopReplicaPartitionError(
                    topic_name=topic.topic_name,
                    partition_index=state.partition_index,
                    error_code=self.stop_error,
                )
                for topic in request.topic_states
                for state in topic.partition_states
            ]
            return StopReplicaResponse(error_code=ErrorCode.NONE, partition_errors=errors)
        return object()

    def sent_to(self, broker_id: int, kind: type[RequestType]) -> list[RequestType]:
        """The requests of one kind that were sent to a broker, in order."""
        return [
            request
            for receiver, request in self.requests
            if receiver == broker_id and isinstance(request, kind)
        ]

    def leader_of(self, broker_id: int, topic: str, number: int = 0) -> tuple[int, int] | None:
        """Who leads a partition and in which epoch, as was last sent to the broker."""
        found = None
        for request in self.sent_to(broker_id, LeaderAndIsrRequest):
            for state in request.topic_states:
                for one in state.partition_states:
                    if (state.topic_name, one.partition_index) == (topic, number):
                        found = (one.leader, one.leader_epoch)
        return found


class Cluster:
    """An ensemble with the roots of Kafka's layout, and its brokers."""

    def __init__(self) -> None:
        self.ensemble = MemoryEnsemble(StandingClock())
        self.brokers = Brokers()
        self.admin: MemoryTree
        self.sessions: dict[int, MemoryTree] = {}

    @classmethod
    async def create(cls, *broker_ids: int) -> "Cluster":
        cluster = cls()
        cluster.admin = cluster.ensemble.connect()
        for path in with_parents(PERSISTENT_PATHS):
            try:
                await cluster.admin.create(Create(path))
            except NodeExists:
                continue
        for broker_id in broker_ids:
            await cluster.join(broker_id)
        return cluster

    async def join(self, broker_id: int) -> MemoryTree:
        """A broker registers in a session of its own."""
        tree = self.sessions[broker_id] = self.ensemble.connect()
        await tree.create(self._registration(broker_id))
        return tree

    async def join_instead(self, broker_id: int) -> None:
        """A broker takes the place of its earlier life, whose session goes on."""
        tree = self.sessions[broker_id] = self.ensemble.connect()
        registration = self._registration(broker_id)
        await tree.multi([Delete(registration.path), registration])

    @staticmethod
    def _registration(broker_id: int) -> Create:
        node = BrokerRegistration(
            endpoints=(RegisteredEndpoint("PLAINTEXT", "PLAINTEXT", f"host{broker_id}", 9092),),
            timestamp_ms=NOW_MS,
        )
        return Create(broker_nodes.id_path(broker_id), node.encode(), is_ephemeral=True)

    def leave(self, broker_id: int) -> None:
        """A broker's session ends."""
        self.ensemble.expire(self.sessions.pop(broker_id).session_id)

    async def create_topic(self, name: str, *replicas: tuple[int, ...]) -> None:
        await create_topic(self.admin, name, replicas)

    async def set_unclean(self, topic: str, text: str) -> None:
        """Set whether replicas out of sync may lead, without a notification."""
        await self.admin.set(ConfigEntity.topic(topic).path, encode_config({UNCLEAN: text}))

    async def write_isr(self, topic: str, *isr: int) -> None:
        """As the leader of the first partition does, which the controller hears of later."""
        state = replace(await self.state(topic), isr=isr)
        await self.admin.set(topic_nodes.state_path(TopicPartition(topic, 0)), state.encode())

    async def mark_for_deletion(self, name: str) -> None:
        await self.admin.create(Create(partition_lists.delete_topic_path(name)))

    async def state(self, topic: str, number: int = 0) -> topic_nodes.PartitionStateNode:
        """What stands in the node of a partition."""
        path = topic_nodes.state_path(TopicPartition(topic, number))
        return topic_nodes.decode_state((await self.admin.get(path)).data)

    async def has(self, path: str) -> bool:
        return await self.admin.exists(path) is not None

    def service(self, broker_id: int, rules: Rules = RULES) -> ControllerService:
        return ControllerService(
            self.sessions[broker_id],
            broker_id,
            send=self.brokers.send,
            clock=StandingClock(),
            rules=rules,
        )

    @asynccontextmanager
    async def controller(self, broker_id: int) -> AsyncIterator[ControllerService]:
        """A broker's controller service at work."""
        async with self.running(self.service(broker_id)) as service:
            yield service

    @asynccontextmanager
    async def running(self, service: ControllerService) -> AsyncIterator[ControllerService]:
        """A service at work."""
        task = asyncio.create_task(service.run())
        await settled()
        try:
            yield service
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def create_topic(tree: Tree, name: str, replicas: Iterable[tuple[int, ...]]) -> None:
    """Write a topic's nodes as any broker does."""
    assignment = TopicAssignment(
        partitions={
            number: PartitionAssignment(replicas=one) for number, one in enumerate(replicas)
        },
        topic_id=format_uuid(b"i" * 16),
    )
    await tree.multi(
        [
            Create(ConfigEntity.topic(name).path, encode_config({})),
            Create(topic_nodes.topic_path(name), assignment.encode()),
        ]
    )


async def settled(satisfied: Callable[[], bool] = lambda: False) -> None:
    """Let all tasks run until nothing is left to do; nothing here waits for real time."""
    for _ in range(500):
        if satisfied():
            return
        await asyncio.sleep(0)
