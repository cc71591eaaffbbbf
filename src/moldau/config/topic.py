"""Settings of a topic."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from moldau.config.definition import (
    Importance,
    Setting,
    boolean,
    double,
    integer,
    listing,
    long,
    settings_of,
    string,
)
from moldau.config.rules import Rule, Value, at_least, between, either, exactly, one_of
from moldau.config.suggestion import unknown
from moldau.config.values import LONG_MAX, config_error
from moldau.config.versions import VERSION_RULE

COMPRESSION_TYPES = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")
GZIP_LEVEL = either(between(1, 9), exactly(-1), "[1,...,9] or -1")
LZ4_LEVEL = between(1, 17)
ZSTD_LEVEL = between(-131_072, 22)


def _is_throttled_replicas(value: Value) -> bool:
    assert isinstance(value, tuple)
    if "*" in value:
        return len(value) == 1
    pairs = (element.split(":") for element in value)
    return all(len(pair) == 2 and all(part.isdecimal() for part in pair) for pair in pairs)


_THROTTLED_REPLICAS = Rule(
    "*, or pairs partition:broker separated by commas",
    _is_throttled_replicas,
    "[partitionId]:[brokerId],[partitionId]:[brokerId],...",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfig:
    """What a topic is configured to do; unset values come from the broker's settings."""

    cleanup_policy: tuple[str, ...] = listing(
        ("delete",),
        "What happens to old records: `delete` drops segments past the retention limits, "
        "`compact` keeps the newest record of every key. Both may be given.",
        one_of("compact", "delete"),
    )
    compression_type: str = string(
        "producer",
        "How the broker stores batches: a codec to recompress with, `uncompressed`, or "
        "`producer` to keep what the producer sent.",
        one_of(*COMPRESSION_TYPES),
    )
    compression_gzip_level: int = integer(
        -1, "Level used when `compression.type` is gzip; -1 is the codec's own default.", GZIP_LEVEL
    )
    compression_lz4_level: int = integer(9, "Level used when `compression.type` is lz4.", LZ4_LEVEL)
    compression_zstd_level: int = integer(
        3, "Level used when `compression.type` is zstd.", ZSTD_LEVEL
    )
    delete_retention_ms: int = long(
        86_400_000,
        "How long a compacted topic keeps tombstones, so that a reader that started at the "
        "beginning sees them.",
        at_least(0),
    )
    file_delete_delay_ms: int = long(
        60_000, "Time between taking a segment out of the log and removing its files.", at_least(0)
    )
    flush_messages: int = long(
        LONG_MAX, "Number of records after which the log is forced to disk.", at_least(1)
    )
    flush_ms: int = long(
        LONG_MAX, "Time after which unflushed records are forced to disk.", at_least(0)
    )
    follower_replication_throttled_replicas: tuple[str, ...] = listing(
        (),
        "Replicas whose fetching is throttled on the follower's side: pairs "
        "`partition:broker`, or `*` for all.",
        _THROTTLED_REPLICAS,
    )
    index_interval_bytes: int = integer(
        4096, "Bytes of log between two entries of the offset index.", at_least(0)
    )
    leader_replication_throttled_replicas: tuple[str, ...] = listing(
        (),
        "Replicas whose fetching is throttled on the leader's side: pairs "
        "`partition:broker`, or `*` for all.",
        _THROTTLED_REPLICAS,
    )
    local_retention_bytes: int = long(
        -2,
        "Local size limit of a partition with tiered storage; -2 means `retention.bytes`.",
        at_least(-2),
    )
    local_retention_ms: int = long(
        -2,
        "Local age limit of a segment with tiered storage; -2 means `retention.ms`.",
        at_least(-2),
    )
    max_compaction_lag_ms: int = long(
        LONG_MAX, "Longest time a record may wait for compaction.", at_least(1)
    )
    max_message_bytes: int = integer(
        1_048_588, "Largest record batch the topic takes, after compression.", at_least(0)
    )
    message_downconversion_enable: bool = boolean(
        True,
        "Whether batches are converted for consumers that only know older formats. Without "
        "it such a consumer gets UNSUPPORTED_VERSION.",
        importance=Importance.LOW,
    )
    message_format_version: str = string(
        "3.0-IV1",
        "Deprecated: accepted and without effect, batches are stored in the current format.",
        VERSION_RULE,
    )
    message_timestamp_after_max_ms: int = long(
        LONG_MAX,
        "How far a record's timestamp may lie after the broker's clock; used with CreateTime.",
        at_least(0),
    )
    message_timestamp_before_max_ms: int = long(
        LONG_MAX,
        "How far a record's timestamp may lie before the broker's clock; used with CreateTime.",
        at_least(0),
    )
    message_timestamp_difference_max_ms: int = long(
        LONG_MAX,
        "Deprecated: stands for both `message.timestamp.before.max.ms` and "
        "`message.timestamp.after.max.ms` where those are not set.",
        at_least(0),
    )
    message_timestamp_type: str = string(
        "CreateTime",
        "Whether records carry the producer's time (CreateTime) or the broker's at the time "
        "of the append (LogAppendTime).",
        one_of(*TIMESTAMP_TYPES),
    )
    min_cleanable_dirty_ratio: float = double(
        0.5,
        "Share of the log that must be uncompacted before it is worth cleaning.",
        between(0, 1),
    )
    min_compaction_lag_ms: int = long(
        0, "Time during which a record is never compacted away.", at_least(0)
    )
    min_insync_replicas: int = integer(
        1, "In-sync replicas that must exist for a produce with acks=all to be taken.", at_least(1)
    )
    preallocate: bool = boolean(False, "Without effect: a segment's file grows as it is written.")
    remote_log_copy_disable: bool = boolean(
        False, "Whether a tiered topic's remote data becomes read-only."
    )
    remote_log_delete_on_disable: bool = boolean(
        False, "Whether turning tiered storage off deletes what was stored remotely."
    )
    remote_storage_enable: bool = boolean(
        False, "Whether segments are copied to tiered storage, which must be enabled on the broker."
    )
    retention_bytes: int = long(
        -1, "Size of a partition above which its oldest segments are deleted; -1 is no limit."
    )
    retention_ms: int = long(
        604_800_000, "Age after which a segment is deleted; -1 is no limit.", at_least(-1)
    )
    segment_bytes: int = integer(
        1_073_741_824, "Size at which a new segment is begun.", at_least(14)
    )
    segment_index_bytes: int = integer(
        10_485_760, "Largest size of an index file of a segment.", at_least(4)
    )
    segment_jitter_ms: int = long(
        0,
        "Random time taken off `segment.ms`, so that segments do not all roll at once.",
        at_least(0),
    )
    segment_ms: int = long(
        604_800_000, "Age at which a new segment is begun, even if it is not full.", at_least(1)
    )
    unclean_leader_election_enable: bool = boolean(
        False,
        "Whether a replica outside the in-sync set may lead when no other replica can, which "
        "loses records.",
    )

    @property
    def is_compacted(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def roll_ms(self) -> int:
        """How long a segment is filled: what is never rolled is never compacted (KIP-354)."""
        if self.is_compacted and self.max_compaction_lag_ms > 0:
            return min(self.segment_ms, self.max_compaction_lag_ms)
        return self.segment_ms

    @property
    def is_deleted_by_retention(self) -> bool:
        return "delete" in self.cleanup_policy

    @property
    def may_have_holes(self) -> bool:
        """Whether offsets may be missing within a log: deletion alone takes from its start."""
        return set(self.cleanup_policy) != {"delete"}

    @property
    def timestamp_before_limit_ms(self) -> int:
        """`message.timestamp.before.max.ms`, or the deprecated setting if that is not set."""
        if self.message_timestamp_before_max_ms != LONG_MAX:
            return self.message_timestamp_before_max_ms
        return self.message_timestamp_difference_max_ms

    @property
    def timestamp_after_limit_ms(self) -> int:
        """`message.timestamp.after.max.ms`, or the deprecated setting if that is not set."""
        if self.message_timestamp_after_max_ms != LONG_MAX:
            return self.message_timestamp_after_max_ms
        return self.message_timestamp_difference_max_ms

    def keeping_everything(self) -> "TopicConfig":
        """These settings, but nothing is taken out of a log: neither deleted nor compacted."""
        return replace(self, cleanup_policy=())

    def with_overrides(self, overrides: Mapping[str, str]) -> "TopicConfig":
        """These settings with a topic's own on top; InvalidConfig for what Kafka refuses."""
        values = {
            topic_setting(name).attribute: topic_setting(name).parse(text)
            for name, text in overrides.items()
        }
        # The generated __init__ takes each field's own type, which `parse` has made sure of.
        changed: TopicConfig = replace(self, **values)  # type: ignore[arg-type]
        _check_together(changed)
        return changed


def topic_settings() -> Mapping[str, Setting]:
    """Every topic setting, by its Kafka name."""
    return settings_of(TopicConfig)


def topic_setting(name: str) -> Setting:
    """The setting of that name, or InvalidConfig with the nearest right name."""
    found = topic_settings().get(name)
    if found is None:
        raise unknown("topic", name, topic_settings())
    return found


def _check_together(config: TopicConfig) -> None:
    """The rules that need more than one setting."""
    if config.min_compaction_lag_ms > config.max_compaction_lag_ms:
        raise config_error(
            f"min.compaction.lag.ms ({config.min_compaction_lag_ms}) must not be greater than "
            f"max.compaction.lag.ms ({config.max_compaction_lag_ms})"
        )
    if config.remote_storage_enable:
        raise config_error(
            "Invalid value true for configuration remote.storage.enable: must be false, "
            "tiered storage is not available on this broker"
        )
