"""How this broker follows others: the parts of replication, joined to the rest of the broker."""

from moldau.broker.broker import Broker
from moldau.config.broker.startup import Startup
from moldau.coordination.tree import Tree
from moldau.net.channel import Channel, ChannelLimits
from moldau.replication.fetch_loop import Terms
from moldau.replication.fetching import Fetching
from moldau.replication.in_sync import InSyncSets


def make_fetching(broker: Broker, startup: Startup) -> Fetching:
    """What follows the leaders of this broker's partitions."""
    listener = startup.listeners.inter_broker_name
    limits = ChannelLimits(timeout_s=startup.config.replication.replica_socket_timeout_ms / 1000)

    def open_channel(leader: int) -> Channel | None:
        endpoint = broker.metadata.image.endpoint(leader, listener)
        if endpoint is None:
            return None
        return Channel(endpoint.host, endpoint.port, f"broker-{broker.id}-fetcher", limits=limits)

    terms = Terms(
        replica_id=broker.id,
        protocol=startup.config.general.inter_broker_protocol_version,
        open_channel=open_channel,
        config=lambda: broker.config.replication,
        clock=broker.clock,
        make_durable=broker.flusher.flush_due,
    )
    return Fetching(terms, broker.waiters)


def make_in_sync_sets(broker: Broker, tree: Tree) -> InSyncSets:
    """What keeps the in-sync sets of the partitions led here true."""
    return InSyncSets(
        tree,
        broker.replicas,
        waiters=broker.waiters,
        clock=broker.clock,
        lag_max_ms=lambda: broker.config.replication.replica_lag_time_max_ms,
    )
