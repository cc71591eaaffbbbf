"""Metrics that are read off the broker's parts when they are scraped.

For names see `moldau.runtime.metrics`.
"""

from collections.abc import Callable, Iterator, Sequence

from moldau.broker.broker import Broker
from moldau.broker.metrics.consumer_lag import register_consumer_lag
from moldau.broker.metrics.coordinators import register_coordinator_gauges
from moldau.broker.metrics.quotas import register_quota_gauges
from moldau.log.log import Log
from moldau.net.listener import Listener
from moldau.runtime.metrics import Labels
from moldau.runtime.process import (
    cpu_seconds,
    open_file_count,
    open_files_max,
    resident_bytes,
)

_DELAYED_OPERATIONS = ("Produce", "Fetch", "DeleteRecords", "ElectLeader", "Rebalance", "topic")


def register_gauges(broker: Broker, listeners: Sequence[Listener]) -> None:
    """Make everything that dashboards ask for readable."""
    _register_replicas(broker)
    _register_controller(broker)
    _register_parked(broker)
    _register_requests(broker, listeners)
    _register_sessions(broker)
    _register_logs(broker)
    _register_process(broker)
    register_coordinator_gauges(broker)
    register_consumer_lag(broker)
    register_quota_gauges(broker)


def _register_replicas(broker: Broker) -> None:
    metrics, replicas = broker.metrics, broker.replicas
    prefix = "kafka_server_replicamanager_"
    metrics.gauge(
        f"{prefix}partitioncount",
        "Partitions of which this broker has a replica.",
        lambda: len(replicas),
    )
    metrics.gauge(
        f"{prefix}leadercount",
        "Partitions that this broker leads.",
        lambda: sum(one.is_leader for one in replicas),
    )
    metrics.gauge(
        f"{prefix}underreplicatedpartitions",
        "Partitions led here of which some replica is not in sync.",
        lambda: sum(
            one.is_leader and len(one.state.isr) < len(one.state.replicas) for one in replicas
        ),
    )
    metrics.gauge(
        f"{prefix}underminisrpartitioncount",
        "Partitions led here with fewer replicas in sync than min.insync.replicas: "
        "producers with acks=all are refused.",
        lambda: sum(
            one.is_leader and len(one.state.isr) < one.min_insync_replicas for one in replicas
        ),
    )
    metrics.gauge(
        f"{prefix}offlinereplicacount",
        "Replicas of this broker that lie in a log directory that has failed.",
        lambda: sum(not one.log.folder.volume.is_online for one in replicas),
    )
    metrics.gauge(
        "kafka_server_replicafetchermanager_maxlag",
        "Records that the slowest partition followed here is behind its leader.",
        lambda: broker.fetching.largest_lag,
    )


def _register_controller(broker: Broker) -> None:
    metrics = broker.metrics
    metrics.gauge(
        "kafka_server_kafkaserver_brokerstate",
        "1 while the broker starts, 3 while it serves, 6 while it hands its partitions to "
        "others, 7 while it stops.",
        lambda: broker.state,
    )
    metrics.gauge(
        "kafka_controller_kafkacontroller_activecontrollercount",
        "1 if this broker is the controller; 1 over the whole cluster, if all is well.",
        lambda: broker.metadata.image.controller_id == broker.id,
    )
    metrics.gauge(
        "kafka_controller_kafkacontroller_offlinepartitionscount",
        "Partitions of the cluster without a leader, as the controller knows it; elsewhere 0.",
        lambda: _offline_count(broker),
    )


def _register_process(broker: Broker) -> None:
    metrics = broker.metrics
    metrics.gauge(
        "process_resident_memory_bytes", "Memory of the process, in bytes.", resident_bytes
    )
    metrics.gauge(
        "process_cpu_seconds_total", "Processor time of the process, in seconds.", cpu_seconds
    )
    metrics.gauge(
        "process_open_fds", "Files and sockets that the process has open.", open_file_count
    )
    metrics.gauge(
        "process_max_fds", "Files and sockets that the process may have open.", open_files_max
    )


def _register_requests(broker: Broker, listeners: Sequence[Listener]) -> None:
    """What Kafka says of its queues and threads; one event loop does the work of both kinds."""
    metrics = broker.metrics
    for kind in ("request", "response"):
        metrics.gauge(
            f"kafka_network_requestchannel_{kind}queuesize",
            f"Always 0: a {kind} never waits in a queue here.",
            lambda: 0.0,
        )
    for name in (
        "kafka_network_socketserver_networkprocessoravgidle_percent",
        "kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent",
    ):
        metrics.gauge(
            name,
            "Share of the last seconds, 0 to 1, in which the event loop had nothing to do.",
            lambda: broker.loop_lag.idle_share,
        )
    metrics.gauges(
        "kafka_server_socket_server_metrics_connection_count",
        "Connections that are open.",
        lambda: [
            ((("listener", one.endpoint.name), ("networkProcessor", "0")), one.connection_count)
            for one in listeners
        ],
    )


def _offline_count(broker: Broker) -> float:
    """Partitions without a leader, as the controller reports; other brokers report 0."""
    image = broker.metadata.image
    if image.controller_id != broker.id:
        return 0.0
    return sum(
        partition.leader < 0
        for topic in image.topics.values()
        for partition in topic.partitions.values()
    )


def _register_sessions(broker: Broker) -> None:
    metrics, sessions = broker.metrics, broker.fetch_sessions
    prefix = "kafka_server_fetchsessioncache_"
    metrics.gauge(
        f"{prefix}numincrementalfetchsessions",
        "Fetch sessions (KIP-227) of clients and followers that are remembered.",
        lambda: len(sessions),
    )
    metrics.gauge(
        f"{prefix}numincrementalfetchpartitionscached",
        "Partitions in all fetch sessions together.",
        lambda: sessions.partition_count,
    )
    metrics.gauge(
        f"{prefix}incrementalfetchsessionevictions_total",
        "Fetch sessions that were forgotten in favour of others.",
        lambda: sessions.evicted_count,
    )


def _register_parked(broker: Broker) -> None:
    for name in ("purgatorysize", "numdelayedoperations"):
        broker.metrics.gauges(
            f"kafka_server_delayedoperationpurgatory_{name}",
            "Requests that wait for something: replicas, records, members or topics.",
            lambda: [
                ((("delayedOperation", operation),), broker.waiters.counts[operation])
                for operation in _DELAYED_OPERATIONS
            ],
        )


_LOG_GAUGES: tuple[tuple[str, str, Callable[[Log], float]], ...] = (
    ("size", "Bytes of a partition's segments here.", lambda log: log.size),
    ("numlogsegments", "Segments of a partition here.", lambda log: len(log.segments)),
    ("logstartoffset", "First offset of a partition here.", lambda log: log.log_start_offset),
    (
        "logendoffset",
        "Offset that the next record of a partition gets here.",
        lambda log: log.log_end_offset,
    ),
)


def _register_logs(broker: Broker) -> None:
    broker.metrics.gauges(
        "kafka_log_logmanager_logdirectoryoffline",
        "1 if a log directory has failed and is not used any more.",
        lambda: [
            ((("logDirectory", one.volume.path),), float(not one.volume.is_online))
            for one in broker.logs.directories
        ],
    )
    for name, about, read in _LOG_GAUGES:
        broker.metrics.gauges(f"kafka_log_log_{name}", about, _per_log(broker, read))


def _per_log(
    broker: Broker, read: Callable[[Log], float]
) -> Callable[[], Iterator[tuple[Labels, float]]]:
    def values() -> Iterator[tuple[Labels, float]]:
        for log in tuple(broker.logs):
            topic, partition = log.partition
            yield (("topic", topic), ("partition", str(partition))), read(log)

    return values
