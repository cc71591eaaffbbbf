"""Settings of share groups (KIP-932), an early access feature of Kafka 3.9."""

from moldau.config.definition import Area, boolean, integer, short
from moldau.config.rules import at_least, between


class ShareGroupConfig(Area):
    """Kept so that they can be described; share groups are not available in ZooKeeper mode."""

    group_share_enable: bool = boolean(False, "Whether share groups are offered.", is_internal=True)
    group_share_delivery_count_limit: int = integer(
        5, "How often a record is delivered at most.", between(2, 10)
    )
    group_share_heartbeat_interval_ms: int = integer(
        5000, "Heartbeat interval of members.", at_least(1)
    )
    group_share_min_heartbeat_interval_ms: int = integer(
        5000, "Shortest heartbeat interval.", at_least(1)
    )
    group_share_max_heartbeat_interval_ms: int = integer(
        15_000, "Longest heartbeat interval.", at_least(1)
    )
    group_share_session_timeout_ms: int = integer(
        45_000, "Session timeout of members.", at_least(1)
    )
    group_share_min_session_timeout_ms: int = integer(
        45_000, "Shortest session timeout.", at_least(1)
    )
    group_share_max_session_timeout_ms: int = integer(
        60_000, "Longest session timeout.", at_least(1)
    )
    group_share_record_lock_duration_ms: int = integer(
        30_000, "Time for which a delivered record is held.", between(1000, 60_000)
    )
    group_share_min_record_lock_duration_ms: int = integer(
        15_000, "Shortest such time.", between(1000, 30_000)
    )
    group_share_max_record_lock_duration_ms: int = integer(
        60_000, "Longest such time.", between(30_000, 3_600_000)
    )
    group_share_partition_max_record_locks: int = integer(
        200, "Records of one partition that may be held at a time.", between(100, 10_000)
    )
    group_share_max_groups: int = short(10, "Share groups that may exist.", between(1, 100))
    group_share_max_size: int = short(
        200, "Members that a share group may have.", between(10, 1000)
    )
