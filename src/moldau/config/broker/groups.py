"""Settings of consumer groups and committed offsets."""

from moldau.config.definition import (
    Area,
    Importance,
    boolean,
    integer,
    listing,
    long,
    short,
    string,
)
from moldau.config.rules import at_least, one_of, one_of_any_case
from moldau.config.values import INT_MAX


class GroupConfig(Area):
    """What the group coordinator allows and how it stores offsets."""

    group_min_session_timeout_ms: int = integer(
        6000, "Shortest session timeout that a member may ask for."
    )
    group_max_session_timeout_ms: int = integer(
        1_800_000, "Longest session timeout that a member may ask for."
    )
    group_initial_rebalance_delay_ms: int = integer(
        3000,
        "Time that an empty group waits for more members before its first rebalance; on the"
        " embedded store the default is 0.",
    )
    group_max_size: int = integer(INT_MAX, "Members that a group may have.", at_least(1))
    group_coordinator_rebalance_protocols: tuple[str, ...] = listing(
        ("classic",),
        "Rebalance protocols that are offered.",
        one_of("consumer", "classic", "share", "unknown"),
    )
    group_coordinator_threads: int = integer(
        1, "Kept for compatibility: the coordinator runs on the event loop.", at_least(1)
    )
    group_coordinator_append_linger_ms: int = integer(
        10, "Time that the new coordinator collects records before it writes them.", at_least(0)
    )
    group_coordinator_new_enable: bool = boolean(
        False, "Whether the new group coordinator is used.", is_internal=True
    )
    group_consumer_session_timeout_ms: int = integer(
        45_000, "Session timeout of the consumer protocol (KIP-848).", at_least(1)
    )
    group_consumer_min_session_timeout_ms: int = integer(
        45_000, "Shortest session timeout of the consumer protocol.", at_least(1)
    )
    group_consumer_max_session_timeout_ms: int = integer(
        60_000, "Longest session timeout of the consumer protocol.", at_least(1)
    )
    group_consumer_heartbeat_interval_ms: int = integer(
        5000, "Heartbeat interval of the consumer protocol.", at_least(1)
    )
    group_consumer_min_heartbeat_interval_ms: int = integer(
        5000, "Shortest heartbeat interval of the consumer protocol.", at_least(1)
    )
    group_consumer_max_heartbeat_interval_ms: int = integer(
        15_000, "Longest heartbeat interval of the consumer protocol.", at_least(1)
    )
    group_consumer_max_size: int = integer(
        INT_MAX, "Members that a group of the consumer protocol may have.", at_least(1)
    )
    group_consumer_assignors: tuple[str, ...] = listing(
        (
            "org.apache.kafka.coordinator.group.assignor.UniformAssignor",
            "org.apache.kafka.coordinator.group.assignor.RangeAssignor",
        ),
        "Assignors of the consumer protocol, the default first.",
    )
    group_consumer_migration_policy: str = string(
        "disabled",
        "How a group may change between the two protocols.",
        one_of_any_case("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"),
        is_internal=True,
    )
    offset_metadata_max_bytes: int = integer(
        4096, "Largest text that may be stored with a committed offset.", importance=Importance.HIGH
    )
    offsets_commit_required_acks: int = short(
        -1,
        "Replicas that must have a commit before it is answered; -1 is all in sync.",
        importance=Importance.HIGH,
    )
    offsets_commit_timeout_ms: int = integer(
        5000,
        "Time that a commit may wait for its replicas.",
        at_least(1),
        importance=Importance.HIGH,
    )
    offsets_load_buffer_size: int = integer(
        5_242_880,
        "Bytes read at once when a coordinator loads its offsets.",
        at_least(1),
        importance=Importance.HIGH,
    )
    offsets_retention_check_interval_ms: int = long(
        600_000,
        "Time between two looks for expired offsets.",
        at_least(1),
        importance=Importance.HIGH,
    )
    offsets_retention_minutes: int = integer(
        10_080,
        "Time after which the offsets of an empty group are forgotten.",
        at_least(1),
        importance=Importance.HIGH,
    )
    offsets_topic_compression_codec: int = integer(
        0,
        "Codec of `__consumer_offsets`, as its number in a record batch.",
        importance=Importance.HIGH,
    )
    offsets_topic_num_partitions: int = integer(
        50,
        "Partitions of `__consumer_offsets`; do not change it later.",
        at_least(1),
        importance=Importance.HIGH,
    )
    offsets_topic_replication_factor: int = short(
        3,
        "Replicas of `__consumer_offsets`; on the embedded store the default is 1.",
        at_least(1),
        importance=Importance.HIGH,
    )
    offsets_topic_segment_bytes: int = integer(
        104_857_600,
        "Segment size of `__consumer_offsets`.",
        at_least(1),
        importance=Importance.HIGH,
    )
