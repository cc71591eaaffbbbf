"""Metrics that are read off the broker's parts when somebody looks.

For names see `moldau.runtime.metrics`.
"""

from collections.abc import Callable, Iterator, Sequence

from moldau.broker.broker import Broker
from moldau.broker.coordinator_gauges import register_coordinator_gauges
from moldau.log.log import Log
from moldau.net.listener import Listener
from moldau.runtime.metrics import Labels
from moldau.runtime.process import cpu_seconds, resident_bytes

_RUNNING = 3.0
_DELAYED_OPERATIONS = ("Produce", "Fetch", "DeleteRecords", "ElectLeader", "Rebalance", "topic")


def register_gauges(broker: Broker, listeners: Sequence[Listener]) -> None:
    """Make everything that dashboards ask for readable."""
    metrics, replicas = broker.metrics, broker.replicas
    prefix = "kafka_server_replicamanager_"
    metrics.gauge(f"{prefix}partitioncount", lambda: len(replicas))
    metrics.gauge(f"{prefix}leadercount", lambda: sum(one.is_leader for one in replicas))
    metrics.gauge(
        f"{prefix}underreplicatedpartitions",
        lambda: sum(
            one.is_leader and len(one.state.isr) < len(one.state.replicas) for one in replicas
        ),
    )
    metrics.gauge(
        f"{prefix}underminisrpartitioncount",
        lambda: sum(
            one.is_leader and len(one.state.isr) < one.min_insync_replicas for one in replicas
        ),
    )
    metrics.gauge("kafka_server_replicafetchermanager_maxlag", lambda: broker.fetching.largest_lag)
    metrics.gauge(
        f"{prefix}offlinereplicacount",
        lambda: sum(not one.log.folder.volume.is_online for one in replicas),
    )
    metrics.gauge("kafka_server_kafkaserver_brokerstate", lambda: _RUNNING)
    metrics.gauge(
        "kafka_controller_kafkacontroller_activecontrollercount",
        lambda: float(broker.metadata.image.controller_id == broker.id),
    )
    _register_parked(broker)
    _register_requests(broker)
    _register_sessions(broker)
    metrics.gauges(
        "kafka_log_logmanager_logdirectoryoffline",
        lambda: [
            ((("logDirectory", one.volume.path),), float(not one.volume.is_online))
            for one in broker.logs.directories
        ],
    )
    metrics.gauges(
        "kafka_server_socket_server_metrics_connection_count",
        lambda: [
            ((("listener", one.endpoint.name), ("networkProcessor", "0")), one.connection_count)
            for one in listeners
        ],
    )
    metrics.gauge("process_resident_memory_bytes", resident_bytes)
    metrics.gauge("process_cpu_seconds_total", cpu_seconds)
    for name, read in _LOG_GAUGES.items():
        metrics.gauges(f"kafka_log_log_{name}", _per_log(broker, read))
    register_coordinator_gauges(broker)


def _register_requests(broker: Broker) -> None:
    """What Kafka says of its queues and threads; one event loop does the work of both kinds."""
    metrics = broker.metrics
    for queue in ("requestqueuesize", "responsequeuesize"):
        metrics.gauge(f"kafka_network_requestchannel_{queue}", lambda: 0.0)
    for name in (
        "kafka_network_socketserver_networkprocessoravgidle_percent",
        "kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent",
    ):
        metrics.gauge(name, lambda: broker.loop_lag.idle_share)
    metrics.gauge(
        "kafka_controller_kafkacontroller_offlinepartitionscount", lambda: _offline_count(broker)
    )


def _offline_count(broker: Broker) -> float:
    """Partitions without a leader, which the controller tells, and everyone else 0."""
    image = broker.metadata.image
    if image.controller_id != broker.id:
        return 0.0
    return sum(
        partition.leader < 0
        for topic in image.topics.values()
        for partition in topic.partitions.values()
    )


def _register_sessions(broker: Broker) -> None:
    sessions = broker.fetch_sessions
    prefix = "kafka_server_fetchsessioncache_"
    for name, read in (
        ("numincrementalfetchsessions", lambda: len(sessions)),
        ("numincrementalfetchpartitionscached", lambda: sessions.partition_count),
        ("incrementalfetchsessionevictions_total", lambda: sessions.evicted_count),
    ):
        broker.metrics.gauge(prefix + name, read)


def _register_parked(broker: Broker) -> None:
    for name in ("purgatorysize", "numdelayedoperations"):
        broker.metrics.gauges(
            f"kafka_server_delayedoperationpurgatory_{name}",
            lambda: [
                ((("delayedOperation", operation),), broker.waiters.counts[operation])
                for operation in _DELAYED_OPERATIONS
            ],
        )


_LOG_GAUGES: dict[str, Callable[[Log], float]] = {
    "size": lambda log: log.size,
    "numlogsegments": lambda log: len(log.segments),
    "logstartoffset": lambda log: log.log_start_offset,
    "logendoffset": lambda log: log.log_end_offset,
}


def _per_log(
    broker: Broker, read: Callable[[Log], float]
) -> Callable[[], Iterator[tuple[Labels, float]]]:
    def values() -> Iterator[tuple[Labels, float]]:
        for log in broker.logs:
            topic, partition = log.partition
            yield (("topic", topic), ("partition", str(partition))), read(log)

    return values
