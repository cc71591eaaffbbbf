"""What administrators ask for by writing nodes, as Kafka's tools did before 2.4.

The node stands until what it asks for is done: that is what those tools wait for.
"""

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping

from moldau.controller import reassignment
from moldau.controller.cluster import ClusterPicture
from moldau.controller.reassigning import Wishes
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.tree import Watch
from moldau.errors import KafkaError
from moldau.model import TopicPartition

_log = logging.getLogger(__name__)

Elect = Callable[[Collection[TopicPartition]], Awaitable[object]]
Reassign = Callable[[Wishes], Awaitable[Mapping[TopicPartition, KafkaError]]]
Change = Callable[[str, bytes | None], Awaitable[None]]
"""Replaces the data of a node; None removes it."""


class AdminNodes:
    """The two nodes, for a controller's term."""

    def __init__(
        self,
        reader: TreeReader,
        cluster: ClusterPicture,
        *,
        elect: Elect,
        reassign: Reassign,
        change: Change,
    ) -> None:
        self._reader = reader
        self._cluster = cluster
        self._elect = elect
        self._reassign = reassign
        self._change = change
        self._moving: dict[TopicPartition, None] = {}

    async def elections_asked(self, watch: Watch) -> None:
        """Hold the elections that the node asks for, if there is one."""
        partitions = await self._reader.preferred_elections(watch)
        if partitions is not None:
            await self._elect(partitions)
            await self._change(partition_lists.PREFERRED_ELECTION_PATH, None)

    async def moves_asked(self, watch: Watch) -> None:
        """Begin the moves that the node asks for, if there is one; it loses what is refused."""
        wishes = await self._reader.reassignments(watch)
        if wishes is None:
            self._moving = {}
            return
        refused = await self._reassign(wishes)
        for partition, error in refused.items():
            _log.warning("Refused to reassign %s: %s", partition, error)
        granted = {one: target for one, target in wishes.items() if one not in refused}
        self._moving = dict.fromkeys(granted)
        if refused or not granted:
            data = partition_lists.encode_reassignment(granted) if granted else None
            await self._change(partition_lists.REASSIGNMENT_PATH, data)
        await self.look()

    async def look(self) -> None:
        """Remove the node once all that it asked for is done."""
        if not self._moving:
            return
        known = [one for one in self._moving if one in self._cluster.leaders]
        if not any(reassignment.is_under_way(self._cluster.assignment(one)) for one in known):
            self._moving = {}
            await self._change(partition_lists.REASSIGNMENT_PATH, None)
