"""Settings of logs, most of them the default for topics."""

from moldau.config.definition import (
    Area,
    Importance,
    UpdateMode,
    boolean,
    integer,
    listing,
    long,
    string,
)
from moldau.config.rules import at_least, one_of
from moldau.config.topic import (
    COMPRESSION_TYPES,
    GZIP_LEVEL,
    LZ4_LEVEL,
    TIMESTAMP_TYPES,
    ZSTD_LEVEL,
)
from moldau.config.values import LONG_MAX
from moldau.config.versions import VERSION_RULE


class LogConfig(Area):
    """How partitions are kept on disk where a topic does not say otherwise."""

    log_dir: str = string(
        "/tmp/kafka-logs",  # noqa: S108 - Kafka's own default
        "Directory for logs, used when `log.dirs` is not set.",
        importance=Importance.HIGH,
    )
    log_dirs: str | None = string(
        None,
        "Directories for logs, separated by commas; a partition lives in one of them.",
        importance=Importance.HIGH,
    )
    log_dir_failure_timeout_ms: int = long(
        30_000,
        "KRaft only: time to notify the controller of a failed directory.",
        at_least(1),
        importance=Importance.LOW,
    )
    num_recovery_threads_per_data_dir: int = integer(
        1,
        "Threads per directory for recovery at start and flushing at stop.",
        at_least(1),
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_segment_bytes: int = integer(
        1_073_741_824,
        "Size at which a new segment is begun.",
        at_least(14),
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_segment_delete_delay_ms: int = long(
        60_000,
        "Time between taking a segment out of the log and removing its files.",
        at_least(0),
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_roll_ms: int | None = long(
        None,
        "Age at which a new segment is begun; default is `log.roll.hours`.",
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_roll_hours: int = integer(
        168,
        "Age in hours at which a new segment is begun.",
        at_least(1),
        importance=Importance.HIGH,
    )
    log_roll_jitter_ms: int | None = long(
        None,
        "Random time taken off the age; default is `log.roll.jitter.hours`.",
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_roll_jitter_hours: int = integer(
        0, "Random time in hours taken off the age.", at_least(0), importance=Importance.HIGH
    )
    log_retention_ms: int | None = long(
        None,
        "Age after which a segment is deleted; default is `log.retention.minutes`; -1 is no limit.",
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_retention_minutes: int | None = integer(
        None,
        "Age in minutes after which a segment is deleted; default is `log.retention.hours`.",
        importance=Importance.HIGH,
    )
    log_retention_hours: int = integer(
        168, "Age in hours after which a segment is deleted.", importance=Importance.HIGH
    )
    log_retention_bytes: int = long(
        -1,
        "Size of a partition above which its oldest segments are deleted; -1 is no limit.",
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_retention_check_interval_ms: int = long(
        300_000, "Time between two looks for segments to delete.", at_least(1)
    )
    log_local_retention_ms: int = long(
        -2,
        "Local age limit of a segment with tiered storage; -2 means the general limit.",
        at_least(-2),
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_local_retention_bytes: int = long(
        -2,
        "Local size limit of a partition with tiered storage; -2 means the general limit.",
        at_least(-2),
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_cleanup_policy: tuple[str, ...] = listing(
        ("delete",),
        "What happens to old records: delete, compact or both.",
        one_of("compact", "delete"),
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_index_size_max_bytes: int = integer(
        10_485_760, "Largest size of an index file.", at_least(4), update=UpdateMode.CLUSTER_WIDE
    )
    log_index_interval_bytes: int = integer(
        4096,
        "Bytes of log between two entries of the offset index.",
        at_least(0),
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_flush_interval_messages: int = long(
        LONG_MAX,
        "Number of records after which a log is forced to disk.",
        at_least(1),
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_flush_interval_ms: int | None = long(
        None,
        "Time after which unflushed records are forced to disk; default is "
        "`log.flush.scheduler.interval.ms`.",
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_flush_scheduler_interval_ms: int = long(
        LONG_MAX, "Time between two looks for logs to flush.", importance=Importance.HIGH
    )
    log_flush_offset_checkpoint_interval_ms: int = integer(
        60_000,
        "Time between two writes of the recovery points.",
        at_least(0),
        importance=Importance.HIGH,
    )
    log_flush_start_offset_checkpoint_interval_ms: int = integer(
        60_000,
        "Time between two writes of the log start offsets.",
        at_least(0),
        importance=Importance.HIGH,
    )
    log_preallocate: bool = boolean(
        False,
        "Without effect: a segment's file grows as it is written.",
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_initial_task_delay_ms: int = long(
        30_000,
        "Time after start before background tasks run; for tests.",
        at_least(0),
        importance=Importance.LOW,
        is_internal=True,
    )
    log_message_format_version: str = string(
        "3.0-IV1", "Deprecated: accepted and without effect.", VERSION_RULE
    )
    log_message_timestamp_type: str = string(
        "CreateTime",
        "Whether records carry the producer's time or the broker's.",
        one_of(*TIMESTAMP_TYPES),
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_message_timestamp_difference_max_ms: int = long(
        LONG_MAX,
        "Deprecated: stands for the two limits below where those are not set.",
        at_least(0),
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_message_timestamp_before_max_ms: int = long(
        LONG_MAX,
        "How far a record's timestamp may lie before the broker's clock.",
        at_least(0),
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_message_timestamp_after_max_ms: int = long(
        LONG_MAX,
        "How far a record's timestamp may lie after the broker's clock.",
        at_least(0),
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_message_downconversion_enable: bool = boolean(
        True,
        "Whether batches are converted for consumers that only know older formats.",
        importance=Importance.LOW,
        update=UpdateMode.CLUSTER_WIDE,
    )
    message_max_bytes: int = integer(
        1_048_588,
        "Largest record batch that is taken, after compression.",
        at_least(0),
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    compression_type: str = string(
        "producer",
        "How the broker stores batches: a codec, `uncompressed`, or `producer` to keep what"
        " was sent.",
        one_of(*COMPRESSION_TYPES),
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    compression_gzip_level: int = integer(
        -1,
        "Level used when `compression.type` is gzip; -1 is the codec's own default.",
        GZIP_LEVEL,
        update=UpdateMode.CLUSTER_WIDE,
    )
    compression_lz4_level: int = integer(
        9, "Level used when `compression.type` is lz4.", LZ4_LEVEL, update=UpdateMode.CLUSTER_WIDE
    )
    compression_zstd_level: int = integer(
        3, "Level used when `compression.type` is zstd.", ZSTD_LEVEL, update=UpdateMode.CLUSTER_WIDE
    )
    producer_id_expiration_ms: int = integer(
        86_400_000,
        "Time after which an idle idempotent producer's state is forgotten.",
        at_least(1),
        importance=Importance.LOW,
        update=UpdateMode.CLUSTER_WIDE,
    )
    producer_id_expiration_check_interval_ms: int = integer(
        600_000,
        "Time between two looks for such producers.",
        at_least(1),
        importance=Importance.LOW,
        is_internal=True,
    )
