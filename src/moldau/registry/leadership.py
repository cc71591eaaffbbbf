"""Which of several registries writes: the member of their group that has the topic's partition.

The group is Kafka's own kind, so its coordinator notices who is gone. A member's client id is
its address, by which the others find it. The group has the name that Confluent's registries use:
since theirs is of another protocol, the coordinator refuses us while one of them runs.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from moldau.client.admin.admin import Admin
from moldau.client.consumer.consumer import Consumer
from moldau.errors import KafkaError
from moldau.model import TopicPartition
from moldau.registry.topic import Client

_log = logging.getLogger(__name__)

_POLL_S = 30.0
_RETRY_S = 1.0
_SESSION_MS = 10_000


@dataclass(slots=True)
class Leadership:
    """Takes part in the group, and says who leads."""

    client: Client
    topic: str
    group: str
    url: str
    is_chosen: bool = False
    """Whether this one leads, as far as the group has said."""
    changed: Callable[[], None] = lambda: None
    """Called when that has changed."""

    async def run(self) -> None:
        """Take part until cancelled."""
        while True:
            try:
                await self._take_part()
            except KafkaError as error:
                _log.warning("not in the group %s: %s", self.group, error)
            finally:
                self._choose(False)
            await asyncio.sleep(_RETRY_S)

    async def _take_part(self) -> None:
        settings = {
            **self.client,
            "group.id": self.group,
            "client.id": self.url,
            "session.timeout.ms": _SESSION_MS,
            # Who leads goes on leading when others come and go.
            "partition.assignment.strategy": "cooperative-sticky",
            "enable.auto.commit": "false",
            "auto.offset.reset": "latest",
            "allow.auto.create.topics": "false",
        }
        async with Consumer(settings) as consumer:

            async def chosen(partitions: Iterable[TopicPartition]) -> None:
                mine = list(partitions)
                consumer.pause(*mine)  # another consumer reads the records, here or elsewhere
                if mine:
                    self._choose(True)

            async def not_chosen(partitions: Iterable[TopicPartition]) -> None:
                if list(partitions):
                    self._choose(False)

            consumer.subscribe([self.topic], on_assigned=chosen, on_revoked=not_chosen)
            while True:
                await consumer.poll(_POLL_S)

    def _choose(self, is_chosen: bool) -> None:
        self.is_chosen = is_chosen
        self.changed()


async def leader_url(client: Client, group: str, topic: str) -> str | None:
    """The address of the member that leads, if the group has one."""
    async with Admin(client) as admin:
        described = (await admin.describe_groups(group))[group]
    for member in described.members:
        if TopicPartition(topic, 0) in member.assignment:
            return member.client_id
    return None
