"""Settings of replication, leadership and fetching."""

from moldau.config.definition import Area, Importance, UpdateMode, boolean, integer, long, string
from moldau.config.rules import at_least


class ReplicationConfig(Area):
    """How followers keep up and who may lead."""

    min_insync_replicas: int = integer(
        1,
        "In-sync replicas that must exist for a produce with acks=all to be taken.",
        at_least(1),
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    unclean_leader_election_enable: bool = boolean(
        False,
        "Whether a replica outside the in-sync set may lead when no other replica can, which "
        "loses records.",
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    unclean_leader_election_interval_ms: int = long(
        300_000,
        "KRaft only: time between two looks for partitions without a leader.",
        at_least(1),
        is_internal=True,
    )
    eligible_leader_replicas_enable: bool = boolean(
        False,
        "KRaft only: whether replicas that were in sync may lead.",
        importance=Importance.HIGH,
    )
    auto_leader_rebalance_enable: bool = boolean(
        True,
        "Whether the controller gives leadership back to preferred replicas.",
        importance=Importance.HIGH,
    )
    leader_imbalance_check_interval_seconds: int = long(
        300, "Time between two looks for such imbalance.", at_least(1), importance=Importance.HIGH
    )
    leader_imbalance_per_broker_percentage: int = integer(
        10,
        "Share of a broker's partitions that others may lead before it acts.",
        importance=Importance.HIGH,
    )
    controller_socket_timeout_ms: int = integer(
        30_000, "Time that a request of the controller to a broker may take."
    )
    moldau_failover_on_connection_loss: bool = boolean(
        True,
        "Whether a broker whose connections end, and whose port refuses others, is taken for "
        "gone at once instead of when its session ends. A broker that is started again then "
        "takes the place of its own earlier registration. A time-out alone never counts.",
    )
    num_replica_fetchers: int = integer(
        1,
        "Connections on which a follower fetches from one leader.",
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    num_replica_alter_log_dirs_threads: int | None = integer(
        None,
        "Replicas that move between directories at the same time; default is one per directory.",
        importance=Importance.HIGH,
    )
    replica_lag_time_max_ms: int = long(
        30_000,
        "Time a follower may stay behind before it is no longer in sync.",
        importance=Importance.HIGH,
    )
    replica_fetch_min_bytes: int = integer(
        1, "Bytes that a follower waits for.", importance=Importance.HIGH
    )
    replica_fetch_max_bytes: int = integer(
        1_048_576, "Bytes that a follower asks for per partition.", at_least(0)
    )
    replica_fetch_response_max_bytes: int = integer(
        10_485_760, "Bytes that a follower asks for in one fetch.", at_least(0)
    )
    replica_fetch_wait_max_ms: int = integer(
        500,
        "Time that a follower's fetch waits; must be below `replica.lag.time.max.ms`.",
        importance=Importance.HIGH,
    )
    replica_fetch_backoff_ms: int = integer(
        1000, "Time before a follower tries again after an error.", at_least(0)
    )
    replica_high_watermark_checkpoint_interval_ms: int = long(
        5000, "Time between two writes of the high watermarks.", importance=Importance.HIGH
    )
    replica_socket_receive_buffer_bytes: int = integer(
        65_536, "SO_RCVBUF of a follower's connection.", importance=Importance.HIGH
    )
    replica_socket_timeout_ms: int = integer(
        30_000,
        "Time that a follower's request may take; at least `replica.fetch.wait.max.ms`.",
        importance=Importance.HIGH,
    )
    replica_selector_class: str | None = string(
        None,
        "Which replica a consumer is sent to; Kafka's RackAwareReplicaSelector prefers its "
        "own rack.",
    )
    fetch_max_bytes: int = integer(
        57_671_680, "Most bytes that a fetch by a client returns.", at_least(1024)
    )
    max_incremental_fetch_session_cache_slots: int = integer(
        1000, "Fetch sessions that are kept (KIP-227).", at_least(0)
    )
    fetch_purgatory_purge_interval_requests: int = integer(
        1000, "Kept for compatibility: parked fetches are removed at once."
    )
    producer_purgatory_purge_interval_requests: int = integer(
        1000, "Kept for compatibility: parked produces are removed at once."
    )
    delete_records_purgatory_purge_interval_requests: int = integer(
        1, "Kept for compatibility: parked deletions are removed at once."
    )
