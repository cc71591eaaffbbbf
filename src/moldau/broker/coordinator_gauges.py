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
    metrics.gauges("moldau_transactions", lambda: _transactions_by_state(broker))
    _register_load_times(metrics, "group", broker.groups.shards.load_times)
    _register_load_times(metrics, "transaction", broker.transactions.shards.load_times)


def _register_groups(broker: Broker) -> None:
    metrics, prefix = broker.metrics, "kafka_coordinator_group_groupmetadatamanager_num"
    metrics.gauge(f"{prefix}groups", lambda: sum(len(one.machine) for one in broker.groups.shards))
    metrics.gauge(
        f"{prefix}offsets",
        lambda: sum(one.machine.offset_count for one in broker.groups.shards),
    )
    for state in GroupState:
        metrics.gauge(f"{prefix}groups{state.value.lower()}", _count_in(broker, state))
    metrics.gauges(
        "kafka_server_group_coordinator_metrics_consumer_group_count",
        lambda: _consumer_groups_by_state(broker),
    )


def _register_events(broker: Broker) -> None:
    metrics, counts = broker.metrics, broker.groups.counts
    prefix = "kafka_server_group_coordinator_metrics_"
    metrics.gauge(f"{prefix}offset_commit_count", lambda: counts.committed_offsets)
    metrics.gauge(f"{prefix}offset_expiration_count", lambda: counts.expired_offsets)
    metrics.gauge(f"{prefix}offset_deletion_count", lambda: counts.deleted_offsets)
    metrics.gauge(f"{prefix}group_completed_rebalance_count", lambda: counts.completed_rebalances)


def _register_load_times(metrics: Metrics, coordinator: str, times: LoadTimes) -> None:
    prefix = f"kafka_server_{coordinator}_coordinator_metrics_partition_load_time"
    metrics.gauge(f"{prefix}_max", lambda: times.max_ms)
    metrics.gauge(f"{prefix}_avg", lambda: times.average_ms)


def _count_in(broker: Broker, state: GroupState) -> Callable[[], float]:
    def count() -> float:
        _, overviews = broker.groups.overviews()
        return sum(one.state == state.value and one.group_type != _CONSUMER for one in overviews)

    return count


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
