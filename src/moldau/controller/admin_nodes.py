"""What administrators ask for by writing nodes, as Kafka's tools did before 2.4.

The node stands until what it asks for is done: that is what those tools wait for.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence

from moldau.controller import reassignment
from moldau.controller.cluster import Cluster
from moldau.controller.reassigning import Wishes
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.tree import Watch
from moldau.model import TopicPartition

Elect = Callable[[Collection[TopicPartition]], Awaitable[object]]
Reassign = Callable[[Wishes], Awaitable[object]]
Remove = Callable[[Sequence[str]], Awaitable[None]]


class AdminNodes:
    """The two nodes, for a controller's term."""

    def __init__(
        self,
        reader: TreeReader,
        cluster: Cluster,
        *,
        elect: Elect,
        reassign: Reassign,
        remove: Remove,
    ) -> None:
        self._reader = reader
        self._cluster = cluster
        self._elect = elect
        self._reassign = reassign
        self._remove = remove
        self._moving: dict[TopicPartition, None] = {}

    async def elections_asked(self, watch: Watch) -> None:
        """Hold the elections that the node asks for, if there is one."""
        partitions = await self._reader.preferred_elections(watch)
        if partitions is not None:
            await self._elect(partitions)
            await self._remove([partition_lists.PREFERRED_ELECTION_PATH])

    async def moves_asked(self, watch: Watch) -> None:
        """Begin the moves that the node asks for, if there is one."""
        wishes = await self._reader.reassignments(watch)
        if wishes is None:
            self._moving = {}
            return
        await self._reassign(wishes)
        self._moving = dict.fromkeys(wishes)
        await self.look()

    async def look(self) -> None:
        """Remove the node once all that it asked for is done."""
        if not self._moving:
            return
        known = [one for one in self._moving if one in self._cluster.leaders]
        if not any(reassignment.is_under_way(self._cluster.assignment(one)) for one in known):
            self._moving = {}
            await self._remove([partition_lists.REASSIGNMENT_PATH])
