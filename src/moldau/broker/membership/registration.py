"""This broker in the tree: its ephemeral node, whose creation is the broker's epoch."""

import asyncio
import logging

from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout.brokers import BrokerRegistration
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.tree import (
    BadVersion,
    Create,
    Delete,
    NodeExists,
    NodeStat,
    NoNode,
    NotAllowed,
    Tree,
)
from moldau.errors import ErrorCode, KafkaError

_log = logging.getLogger(__name__)

NO_BROKER_EPOCH = -1


class Registration:
    """Makes the broker known, and knows which of its lives this is."""

    def __init__(self, broker_id: int, *, patience_s: float, may_replace: bool = False) -> None:
        """`patience_s` is how long the node of an earlier life may still be there.

        With `may_replace` it is known that the earlier life has ended: this one has its data.
        """
        self._broker_id = broker_id
        self._patience_s = patience_s
        self._may_replace = may_replace
        self.epoch = NO_BROKER_EPOCH
        self.is_current = False
        """Whether the node is there, as far as is known: it goes with its session."""

    async def register(self, tree: Tree, node: BrokerRegistration) -> None:
        """Create the node.

        After a crash the node of the last life stays until its session expires, which is
        waited for unless it may be replaced. A node that stays longer is another broker's: it
        is left alone, and this one refused.
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
                if self._may_replace and await self._replace(tree, stat, node):
                    continue
                await self._wait(has_changed, stat, deadline - loop.time())
            else:
                self._begin(created.stat.czxid)
                return

    async def _replace(self, tree: Tree, stale: NodeStat, node: BrokerRegistration) -> bool:
        """Take the place of an earlier life; returns whether to look again.

        It listened where this one listens now, or it was another process after all, which works
        on a copy of the data somewhere else.
        """
        path = broker_nodes.id_path(self._broker_id)
        try:
            found = await tree.get(path)
            is_earlier_life = (
                found.stat.ephemeral_owner == stale.ephemeral_owner
                and broker_nodes.decode_broker(found.data).endpoints == node.endpoints
            )
            if not is_earlier_life:
                return False
            _log.info("Replacing the registration of session 0x%x", stale.ephemeral_owner)
            # At once: nobody is to see the cluster without this broker.
            await tree.multi(
                [
                    Delete(path, found.stat.version),
                    Create(path, node.encode(), is_ephemeral=True),
                ]
            )
        except (NodeDataError, NotAllowed):
            return False
        except (NoNode, BadVersion):
            _log.info("Broker id was registered anew meanwhile, retrying")
        return True

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
