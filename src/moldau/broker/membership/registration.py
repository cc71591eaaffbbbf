"""This broker in the tree: its ephemeral node, whose creation is the broker's epoch."""

import asyncio
import logging

from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout.brokers import BrokerRegistration
from moldau.coordination.tree import Create, NodeExists, NodeStat, Tree
from moldau.errors import ErrorCode, KafkaError

_log = logging.getLogger(__name__)

NO_BROKER_EPOCH = -1


class Registration:
    """Makes the broker known, and knows which of its lives this is."""

    def __init__(self, broker_id: int, *, patience_s: float) -> None:
        """`patience_s` is how long the node of an earlier life may still be there."""
        self._broker_id = broker_id
        self._patience_s = patience_s
        self.epoch = NO_BROKER_EPOCH
        self.is_current = False
        """Whether the node is there, as far as is known: it goes with its session."""

    async def register(self, tree: Tree, node: BrokerRegistration) -> None:
        """Create the node.

        After a crash the node of the last life stays until its session expires, which is
        waited for. A node that stays longer is another broker's: it is left alone, and this
        one refused.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience_s
        path = broker_nodes.id_path(self._broker_id)
        while True:
            try:
                created = await tree.create(Create(path, node.encode(), is_ephemeral=True))
            except NodeExists:
                has_changed = asyncio.Event()
                stat = await tree.exists(path, watch=lambda _event: has_changed.set())  # noqa: B023
                if stat is None:
                    continue
                if stat.ephemeral_owner == tree.session_id:
                    # Created, but the connection broke before the answer came.
                    self._begin(stat.czxid)
                    return
                await self._wait(has_changed, stat, deadline - loop.time())
            else:
                self._begin(created.stat.czxid)
                return

    def _begin(self, epoch: int) -> None:
        self.epoch = epoch
        self.is_current = True

    async def _wait(self, has_changed: asyncio.Event, stat: NodeStat, left_s: float) -> None:
        _log.info("Broker id is registered: waiting for session 0x%x to end", stat.ephemeral_owner)
        try:
            async with asyncio.timeout(left_s):
                await has_changed.wait()
        except TimeoutError:
            message = f"broker {self._broker_id} is registered already, by another process"
            raise KafkaError(ErrorCode.DUPLICATE_BROKER_REGISTRATION, message) from None

    def require_epoch(self, epoch: int) -> None:
        """Raise if a request was meant for an earlier life of this broker (KIP-380)."""
        if epoch != NO_BROKER_EPOCH and epoch < self.epoch:
            message = f"broker epoch {epoch} is before {self.epoch}"
            raise KafkaError(ErrorCode.STALE_BROKER_EPOCH, message)
