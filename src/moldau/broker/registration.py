"""This broker in the tree: its ephemeral node, whose creation is the broker's epoch."""

from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout.brokers import BrokerRegistration
from moldau.coordination.tree import Create, Tree
from moldau.errors import ErrorCode, KafkaError

NO_BROKER_EPOCH = -1


class Registration:
    """Makes the broker known, and knows which of its lives this is."""

    def __init__(self, broker_id: int) -> None:
        self._broker_id = broker_id
        self.epoch = NO_BROKER_EPOCH

    async def register(self, tree: Tree, node: BrokerRegistration) -> None:
        """Create the node; raises NodeExists while an earlier life's is still there."""
        path = broker_nodes.id_path(self._broker_id)
        created = await tree.create(Create(path, node.encode(), is_ephemeral=True))
        self.epoch = created.stat.czxid

    def require_epoch(self, epoch: int) -> None:
        """Raise if a request was meant for an earlier life of this broker (KIP-380)."""
        if epoch != NO_BROKER_EPOCH and epoch < self.epoch:
            message = f"broker epoch {epoch} is before {self.epoch}"
            raise KafkaError(ErrorCode.STALE_BROKER_EPOCH, message)
