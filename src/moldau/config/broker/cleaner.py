"""Settings of log compaction."""

from moldau.config.definition import Area, UpdateMode, boolean, double, integer, long
from moldau.config.rules import at_least, between
from moldau.config.values import FLOAT_MAX, LONG_MAX


class CleanerConfig(Area):
    """How much compaction may cost, and the defaults of topics for it."""

    log_cleaner_enable: bool = boolean(
        True, "Whether compaction runs at all; needed for `__consumer_offsets`."
    )
    log_cleaner_threads: int = integer(
        1, "Logs that are compacted at the same time.", at_least(0), update=UpdateMode.CLUSTER_WIDE
    )
    log_cleaner_io_max_bytes_per_second: float = double(
        FLOAT_MAX,
        "Bytes per second that compaction reads and writes together.",
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_cleaner_dedupe_buffer_size: int = long(
        134_217_728,
        "Memory for the map of keys, shared by all threads, held only while cleaning.",
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_cleaner_io_buffer_size: int = integer(
        524_288,
        "Memory for reading and writing, shared by all threads.",
        at_least(0),
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_cleaner_io_buffer_load_factor: float = double(
        0.9,
        "How full the map of keys may get; fuller means more keys but more collisions.",
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_cleaner_backoff_ms: int = long(
        15_000,
        "Time to wait when there is nothing to clean.",
        at_least(0),
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_cleaner_min_cleanable_ratio: float = double(
        0.5,
        "Share of a log that must be uncompacted before it is worth cleaning.",
        between(0, 1),
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_cleaner_delete_retention_ms: int = long(
        86_400_000, "How long tombstones are kept.", at_least(0), update=UpdateMode.CLUSTER_WIDE
    )
    log_cleaner_min_compaction_lag_ms: int = long(
        0,
        "Time during which a record is never compacted away.",
        at_least(0),
        update=UpdateMode.CLUSTER_WIDE,
    )
    log_cleaner_max_compaction_lag_ms: int = long(
        LONG_MAX,
        "Longest time a record may wait for compaction.",
        at_least(1),
        update=UpdateMode.CLUSTER_WIDE,
    )
