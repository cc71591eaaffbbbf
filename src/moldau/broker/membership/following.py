"""How this broker follows others: the parts of replication, joined to the rest of the broker."""

from collections.abc import Callable, Collection

from moldau.broker.broker import Broker
from moldau.broker.membership.channels import Channels
from moldau.broker.requests.fetch_sessions import FetchSessions
from moldau.broker.requests.follower_sessions import FollowerSessions
from moldau.config.broker.replication import ReplicationConfig
from moldau.config.broker.startup import Startup
from moldau.config.topic import TopicConfig
from moldau.config.values import LONG_MAX
from moldau.coordination.tree import Tree
from moldau.net.channel import Channel, ChannelLimits
from moldau.replication.fetch_loop import Terms
from moldau.replication.fetching import Fetching
from moldau.replication.in_sync import InSyncSets
from moldau.replication.replicas import Replicas
from moldau.replication.throttle import Rate, Throttle, ThrottledRate

_SESSION_ID_MAX = 2**31 - 1


def make_fetching(broker: Broker, startup: Startup) -> Fetching:
    """What follows the leaders of this broker's partitions."""
    listener = startup.listeners.inter_broker_name
    channels = Channels(startup, broker.clock, key_stores=broker.key_stores)
    limits = ChannelLimits(timeout_s=startup.config.replication.replica_socket_timeout_ms / 1000)

    def open_channel(leader: int) -> Channel | None:
        endpoint = broker.metadata.image.endpoint(leader, listener)
        if endpoint is None:
            return None
        client_id = f"broker-{broker.id}-fetcher"
        return channels.open(endpoint.host, endpoint.port, client_id, limits)

    terms = Terms(
        replica_id=broker.id,
        protocol=startup.config.general.inter_broker_protocol_version,
        open_channel=open_channel,
        config=lambda: broker.config.replication,
        clock=broker.clock,
        throttle=_throttle(
            broker,
            lambda topic: topic.follower_replication_throttled_replicas,
            "follower.replication.throttled.rate",
        ),
        make_durable=broker.flusher.flush_due,
        bytes_in=broker.traffic.replication_bytes_in,
    )
    return Fetching(terms, broker.waiters)


def make_leader_throttle(broker: Broker) -> Throttle:
    """What holds up followers that fetch too much from this broker."""
    return _throttle(
        broker,
        lambda topic: topic.leader_replication_throttled_replicas,
        "leader.replication.throttled.rate",
    )


def _throttle(
    broker: Broker, replicas_of: Callable[[TopicConfig], Collection[str]], setting: str
) -> Throttle:
    quotas = broker.config.quotas
    rate = Rate(
        window_count=quotas.replication_quota_window_num,
        window_ms=1000 * quotas.replication_quota_window_size_seconds,
    )

    return Throttle(broker.id, replicas_of, _limit(broker, setting), rate)


def make_move_throttle(broker: Broker) -> ThrottledRate:
    """What holds up replicas that move between this broker's log directories."""
    quotas = broker.config.quotas
    rate = Rate(
        window_count=quotas.alter_log_dirs_replication_quota_window_num,
        window_ms=1000 * quotas.alter_log_dirs_replication_quota_window_size_seconds,
    )
    return ThrottledRate(_limit(broker, "replica.alter.log.dirs.io.max.bytes.per.second"), rate)


def _limit(broker: Broker, setting: str) -> Callable[[], int]:
    # The setting is dynamic only, so it is no part of the broker's configuration.
    return lambda: int(broker.configs.layers.texts.get(setting, LONG_MAX))


def make_fetch_sessions(
    config: ReplicationConfig, replicas: Replicas, below: Callable[[int], int]
) -> FetchSessions:
    """What this broker knows of those that fetch from it; `below` draws a number."""
    return FetchSessions(
        config.max_incremental_fetch_session_cache_slots,
        new_id=lambda: 1 + below(_SESSION_ID_MAX),
        hosted=replicas.__len__,
    )


def make_follower_sessions(broker: Broker) -> FollowerSessions:
    """What this broker knows of the brokers that follow it."""
    return FollowerSessions(broker.fetch_sessions, broker.replicas, broker.waiters)


def make_in_sync_sets(broker: Broker, tree: Tree) -> InSyncSets:
    """What keeps the in-sync sets of the partitions led here true."""
    sets = InSyncSets(
        tree,
        broker.replicas,
        waiters=broker.waiters,
        clock=broker.clock,
        lag_max_ms=lambda: broker.config.replication.replica_lag_time_max_ms,
    )
    sets.note_idle = broker.follower_sessions.note_idle
    sets.expansions = broker.metrics.counter(
        "kafka_server_replicamanager_isrexpands_total",
        "Replicas that caught up and were taken into the in-sync set of a partition led here.",
    )
    sets.shrinks = broker.metrics.counter(
        "kafka_server_replicamanager_isrshrinks_total",
        "Times that replicas fell behind and left the in-sync set of a partition led here.",
    )
    return sets
