"""Settings of KRaft, Kafka's mode without ZooKeeper."""

from moldau.config.definition import Area, Importance, integer, listing, long, string
from moldau.config.rules import at_least, one_of


class KraftConfig(Area):
    """Kept so that they can be described: a broker with `process.roles` does not start."""

    process_roles: tuple[str, ...] = listing(
        (),
        "Roles in a KRaft cluster; must be empty.",
        one_of("broker", "controller"),
        importance=Importance.HIGH,
    )
    node_id: int = integer(
        -1,
        "Number of this node; in ZooKeeper mode another name of `broker.id`.",
        importance=Importance.HIGH,
    )
    controller_listener_names: str | None = string(
        None, "Listeners of controllers.", importance=Importance.HIGH
    )
    controller_quorum_voters: tuple[str, ...] = listing(
        (), "Controllers that vote.", importance=Importance.HIGH
    )
    controller_quorum_bootstrap_servers: tuple[str, ...] = listing(
        (), "Controllers to ask first.", importance=Importance.HIGH
    )
    controller_quorum_election_timeout_ms: int = integer(
        1000, "Time to wait for a leader before an election.", importance=Importance.HIGH
    )
    controller_quorum_election_backoff_max_ms: int = integer(
        1000, "Longest wait between elections.", importance=Importance.HIGH
    )
    controller_quorum_fetch_timeout_ms: int = integer(
        2000, "Time without a fetch after which a leader is given up.", importance=Importance.HIGH
    )
    controller_quorum_append_linger_ms: int = integer(25, "Time that a leader collects records.")
    controller_quorum_request_timeout_ms: int = integer(
        2000, "Time that a request among controllers may take."
    )
    controller_quorum_retry_backoff_ms: int = integer(
        20, "Wait before such a request is repeated.", importance=Importance.LOW
    )
    broker_heartbeat_interval_ms: int = integer(
        2000, "Time between two heartbeats to the controller."
    )
    broker_session_timeout_ms: int = integer(
        9000, "Time without a heartbeat after which a broker is given up."
    )
    initial_broker_registration_timeout_ms: int = integer(
        60_000, "Time within which the first registration must succeed."
    )
    metadata_log_dir: str | None = string(
        None, "Directory of the metadata log.", importance=Importance.HIGH
    )
    metadata_log_segment_bytes: int = integer(
        1_073_741_824, "Segment size of the metadata log.", at_least(12), importance=Importance.HIGH
    )
    metadata_log_segment_min_bytes: int = integer(
        8_388_608,
        "Least segment size of the metadata log.",
        at_least(12),
        importance=Importance.HIGH,
        is_internal=True,
    )
    metadata_log_segment_ms: int = long(
        604_800_000,
        "Age at which a new segment of the metadata log is begun.",
        importance=Importance.HIGH,
    )
    metadata_log_max_record_bytes_between_snapshots: int = long(
        20_971_520,
        "Bytes of records after which a snapshot is written.",
        at_least(1),
        importance=Importance.HIGH,
    )
    metadata_log_max_snapshot_interval_ms: int = long(
        3_600_000,
        "Time after which a snapshot is written.",
        at_least(0),
        importance=Importance.HIGH,
    )
    metadata_max_idle_interval_ms: int = integer(
        500,
        "Time between two empty records of the controller.",
        at_least(0),
        importance=Importance.LOW,
    )
    metadata_max_retention_bytes: int = long(
        104_857_600,
        "Size of the metadata log above which its oldest part is deleted.",
        importance=Importance.HIGH,
    )
    metadata_max_retention_ms: int = long(
        604_800_000,
        "Age after which parts of the metadata log are deleted.",
        importance=Importance.HIGH,
    )
