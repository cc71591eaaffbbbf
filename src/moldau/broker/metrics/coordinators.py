"""Metrics of the coordinators, under the names of Kafka's own.

Apache Kafka shows no count of transactions by state: that one has a name of ours.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from moldau.broker.broker import Broker
from moldau.coordinator.counts import LoadTimes
from moldau.coordinator.group.state import GroupState
from moldau.coordinator.transaction.state import TransactionState
from moldau.runtime.metrics import Labels, Metrics

_CONSUMER = "consumer"
_CONSUMER_STATES = ("Empty", "Assigning", "Reconciling", "Stable", "Dead")
# As they are stored; the others are never seen.
_TRANSACTION_STATES = [state for state in TransactionState if state < TransactionState.DEAD]


def register_coordinator_gauges(broker: Broker) -> None:
    """Make groups, offsets and transactions readable."""
    _register_groups(broker)
    _register_events(broker)
    metrics = broker.metrics
    metrics.gauges(
        "moldau_transactions",
        "Transactional ids that this broker coordinates, by the state of their transaction.",
        lambda: _transactions_by_state(broker),
    )
    _register_load_times(metrics, "group", broker.groups.shards.load_times)
    _register_load_times(metrics, "transaction", broker.transactions.shards.load_times)


def _register_groups(broker: Broker) -> None:
    metrics, prefix = broker.metrics, "kafka_coordinator_group_groupmetadatamanager_num"
    metrics.gauge(
        f"{prefix}groups",
        "Groups of either protocol that this broker coordinates.",
        lambda: sum(len(one.machine) for one in broker.groups.shards),
    )
    metrics.gauge(
        f"{prefix}offsets",
        "Offsets that are stored for the groups that this broker coordinates.",
        lambda: sum(len(group.offsets.committed) for group in broker.groups.all()),
    )
    for state in GroupState:
        metrics.gauge(
            f"{prefix}groups{state.value.lower()}",
            f"Groups of the classic protocol in state {state.value}.",
            _count_in(broker, state),
        )
    metrics.gauges(
        "kafka_server_group_coordinator_metrics_consumer_group_count",
        "Groups of the consumer protocol (KIP-848) by state.",
        lambda: _consumer_groups_by_state(broker),
    )


def _register_events(broker: Broker) -> None:
    metrics, counts = broker.metrics, broker.groups.counts
    prefix = "kafka_server_group_coordinator_metrics_"
    metrics.gauge(
        f"{prefix}offset_commit_count",
        "Offsets that were committed since the broker started.",
        lambda: counts.committed_offsets,
    )
    metrics.gauge(
        f"{prefix}offset_expiration_count",
        "Committed offsets that were forgotten after offsets.retention.minutes.",
        lambda: counts.expired_offsets,
    )
    metrics.gauge(
        f"{prefix}offset_deletion_count",
        "Committed offsets that were deleted by somebody.",
        lambda: counts.deleted_offsets,
    )
    metrics.gauge(
        f"{prefix}group_completed_rebalance_count",
        "Rebalances of groups that were completed since the broker started.",
        lambda: counts.completed_rebalances,
    )


def _register_load_times(metrics: Metrics, coordinator: str, times: LoadTimes) -> None:
    prefix = f"kafka_server_{coordinator}_coordinator_metrics_partition_load_time"
    what = f"milliseconds to load a partition of the {coordinator} coordinator."
    metrics.gauge(f"{prefix}_max", f"Most {what}", lambda: times.max_ms)
    metrics.gauge(f"{prefix}_avg", f"Average {what}", lambda: times.average_ms)


def _count_in(broker: Broker, state: GroupState) -> Callable[[], float]:
    return lambda: sum(group.state is state for group in broker.groups.all())


def _consumer_groups_by_state(broker: Broker) -> Iterator[tuple[Labels, float]]:
    _, overviews = broker.groups.overviews()
    found = Counter(one.state for one in overviews if one.group_type == _CONSUMER)
    for state in _CONSUMER_STATES:
        yield (("state", state.lower()),), found[state]


def _transactions_by_state(broker: Broker) -> Iterator[tuple[Labels, float]]:
    shards = broker.transactions.shards
    found = Counter(one.state for shard in shards for _, one in shard.machine.items())
    for state in _TRANSACTION_STATES:
        yield (("state", state.label),), found[state]
