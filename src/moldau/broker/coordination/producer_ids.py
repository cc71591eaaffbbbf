"""Producer ids: each is given out once, by one broker, ever.

Brokers claim them in blocks of a thousand with a conditional write to the tree. What a
broker has claimed and not given out when it stops is never given out.
"""

import asyncio

from moldau.coordination.layout import producer_ids as nodes
from moldau.coordination.layout.producer_ids import BLOCK_SIZE, ProducerIdBlock
from moldau.coordination.tree import BadVersion, Tree


class ProducerIds:
    """Gives out ids from this broker's block, and claims the next block when it is used up."""

    def __init__(self, tree: Tree, broker_id: int) -> None:
        self._tree = tree
        self._broker_id = broker_id
        self._block = iter(range(0))
        # All requests wait for one claim: a thousand new producers must not claim as many blocks.
        self._claiming = asyncio.Lock()

    async def next(self) -> int:
        """An id that no producer has had before."""
        while True:
            for producer_id in self._block:
                return producer_id
            exhausted = self._block
            async with self._claiming:
                if self._block is exhausted:
                    self._block = iter(await self.claim(self._broker_id))

    async def claim(self, broker_id: int) -> range:
        """A block of ids for a broker: for this one, or for one that asks its controller."""
        while True:
            node = await self._tree.get(nodes.PATH)
            # A node without data is from the cluster's first start.
            start = nodes.decode_producer_id_block(node.data).end if node.data else 0
            block = ProducerIdBlock(broker_id, start, start + BLOCK_SIZE)
            try:
                await self._tree.set(nodes.PATH, block.encode(), version=node.stat.version)
            except BadVersion:
                continue  # Another broker was quicker.
            return range(block.start, block.end)
