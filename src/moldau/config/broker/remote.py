"""Settings of tiered storage (KIP-405)."""

from moldau.config.definition import (
    Area,
    Importance,
    UpdateMode,
    boolean,
    double,
    integer,
    long,
    string,
)
from moldau.config.rules import at_least, between, either, exactly, not_empty
from moldau.config.values import LONG_MAX


class RemoteStorageConfig(Area):
    """Kept so that they can be described; tiered storage is not available."""

    remote_log_storage_system_enable: bool = boolean(
        False, "Whether segments can be copied to tiered storage; only false is supported."
    )
    remote_log_storage_manager_class_name: str | None = string(
        None, "Java class that stores segments.", not_empty()
    )
    remote_log_storage_manager_class_path: str | None = string(None, "Where that class is.")
    remote_log_storage_manager_impl_prefix: str = string(
        "rsm.config.", "Prefix of its own settings.", not_empty()
    )
    remote_log_metadata_manager_class_name: str = string(
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        "Java class that keeps the list of segments.",
        not_empty(),
    )
    remote_log_metadata_manager_class_path: str | None = string(None, "Where that class is.")
    remote_log_metadata_manager_impl_prefix: str = string(
        "rlmm.config.", "Prefix of its own settings.", not_empty()
    )
    remote_log_metadata_manager_listener_name: str | None = string(
        None, "Listener over which it reaches the brokers.", not_empty()
    )
    remote_log_metadata_custom_metadata_max_bytes: int = integer(
        128,
        "Largest metadata that a store may attach to a segment.",
        at_least(0),
        importance=Importance.LOW,
    )
    remote_log_index_file_cache_total_size_bytes: int = long(
        1_073_741_824,
        "Space for indexes of remote segments.",
        at_least(1),
        importance=Importance.LOW,
        update=UpdateMode.CLUSTER_WIDE,
    )
    remote_log_manager_thread_pool_size: int = integer(
        10, "Deprecated: threads for copying, reading indexes and deleting.", at_least(1)
    )
    remote_log_manager_copier_thread_pool_size: int = integer(
        -1,
        "Threads for copying; -1 takes the general number.",
        either(at_least(1), exactly(-1), "[1,...] or -1"),
    )
    remote_log_manager_expiration_thread_pool_size: int = integer(
        -1,
        "Threads for deleting; -1 takes the general number.",
        either(at_least(1), exactly(-1), "[1,...] or -1"),
    )
    remote_log_manager_task_interval_ms: int = long(
        30_000,
        "Time between two looks for segments to copy or delete.",
        at_least(1),
        importance=Importance.LOW,
    )
    remote_log_manager_task_retry_backoff_ms: int = long(
        500, "First wait after a failure.", at_least(1), importance=Importance.LOW, is_internal=True
    )
    remote_log_manager_task_retry_backoff_max_ms: int = long(
        30_000,
        "Longest wait after failures.",
        at_least(1),
        importance=Importance.LOW,
        is_internal=True,
    )
    remote_log_manager_task_retry_jitter: float = double(
        0.2,
        "Random share added to a wait.",
        between(0, 0.5),
        importance=Importance.LOW,
        is_internal=True,
    )
    remote_log_manager_copy_max_bytes_per_second: int = long(
        LONG_MAX, "Bytes per second that are copied.", at_least(1), update=UpdateMode.CLUSTER_WIDE
    )
    remote_log_manager_copy_quota_window_num: int = integer(
        11, "Samples kept for that limit.", at_least(1)
    )
    remote_log_manager_copy_quota_window_size_seconds: int = integer(
        1, "Length of each.", at_least(1)
    )
    remote_log_manager_fetch_max_bytes_per_second: int = long(
        LONG_MAX, "Bytes per second that are fetched.", at_least(1), update=UpdateMode.CLUSTER_WIDE
    )
    remote_log_manager_fetch_quota_window_num: int = integer(
        11, "Samples kept for that limit.", at_least(1)
    )
    remote_log_manager_fetch_quota_window_size_seconds: int = integer(
        1, "Length of each.", at_least(1)
    )
    remote_log_reader_threads: int = integer(10, "Threads for reading.", at_least(1))
    remote_log_reader_max_pending_tasks: int = integer(100, "Reads that may wait.", at_least(1))
    remote_fetch_max_wait_ms: int = integer(
        500,
        "Time that a fetch waits for tiered storage.",
        at_least(1),
        update=UpdateMode.CLUSTER_WIDE,
    )
