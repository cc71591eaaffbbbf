"""A consumer's part in its group: what it is assigned, and what it commits."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable

from moldau.client.assignment import Assignment
from moldau.client.cluster import Cluster
from moldau.client.group.assignors import assignors_of
from moldau.client.group.committed import CommittedOffsets
from moldau.client.group.coordinator import Coordinator
from moldau.client.group.membership import Membership
from moldau.client.group.participation import Participation
from moldau.client.settings import ConsumerSettings
from moldau.errors import KafkaError
from moldau.model import TopicPartition

_log = logging.getLogger(__name__)

Listener = Callable[[list[TopicPartition]], Awaitable[None] | None]
"""Is told partitions; a plain function or one that is awaited."""


class Group:
    """Keeps the assignment as the group says, and commits what the user is done with."""

    def __init__(
        self,
        cluster: Cluster,
        assignment: Assignment,
        *,
        wake: Callable[[], None],
        failed: Callable[[KafkaError], None],
    ) -> None:
        assert isinstance(cluster.settings, ConsumerSettings)
        self._settings: ConsumerSettings = cluster.settings
        self._cluster = cluster
        self._assignment = assignment
        self._wake = wake
        self._failed = failed
        assignors = assignors_of(self._settings.partition_assignment_strategy)
        membership = Membership(self._settings.group_id, assignors)
        coordinator = Coordinator(cluster, self._settings.group_id)
        instance_id = self._settings.group_instance_id or None
        self.committed = CommittedOffsets(coordinator, membership, instance_id)
        self.participation = Participation(coordinator, membership, list(assignors))
        self._has_subscribed = asyncio.Event()
        self._is_dealt_out = False
        self.is_subscribed = False
        """Whether the group says what is read."""
        self._on_assigned: Listener | None = None
        self._on_revoked: Listener | None = None

    def subscribe(
        self,
        topics: tuple[str, ...],
        on_assigned: Listener | None,
        on_revoked: Listener | None,
    ) -> None:
        """Let the group say what of these topics is read."""
        self._on_assigned, self._on_revoked = on_assigned, on_revoked
        self.is_subscribed = True
        self.participation.subscribe(topics)
        self._has_subscribed.set()

    def unsubscribe(self) -> None:
        """Leave the partitions to others."""
        self.is_subscribed = False
        self.participation.subscribe(())

    async def run(self) -> None:
        """Take part until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            if self._settings.enable_auto_commit:
                tasks.create_task(self._commit_now_and_then())
            await self._has_subscribed.wait()
            await self.participation.run(self._assigned, self._revoked, self._failed)

    async def close(self) -> None:
        """Commit what the user has, and leave; to be called when nothing runs any more."""
        await self._revoked()
        await self.participation.leave()

    async def _assigned(self, partitions: list[TopicPartition]) -> None:
        self._assignment.replace(partitions)
        self._is_dealt_out = True
        if self._on_assigned is not None:
            await _tell(self._on_assigned, partitions)
        self._wake()

    async def _revoked(self) -> None:
        """Give everything back, once what was read of it is committed."""
        partitions = self._assignment.partitions
        if self._settings.enable_auto_commit:
            await self._commit()
        if self._is_dealt_out:
            self._is_dealt_out = False
            if self._on_revoked is not None:
                await _tell(self._on_revoked, partitions)
            self._assignment.replace([])

    async def _commit_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(self._settings.auto_commit_interval_ms / 1000)
            await self._commit()

    async def _commit(self) -> None:
        try:
            await self.committed.commit(self._assignment.consumed_offsets())
        except KafkaError as error:
            _log.warning("group %s: nothing committed: %s", self._settings.group_id, error)


async def _tell(listener: Listener, partitions: list[TopicPartition]) -> None:
    answer = listener(partitions)
    if inspect.isawaitable(answer):
        await answer
