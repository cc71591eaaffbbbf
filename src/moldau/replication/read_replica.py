"""Which replica a consumer should read from (KIP-392)."""

from collections.abc import Mapping

from moldau.config.values import config_error
from moldau.replication.partition import Partition

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
LEADER_ONLY = "org.apache.kafka.common.replica.LeaderSelector"


def selects_by_rack(selector_class: str | None) -> bool:
    """Whether `replica.selector.class` sends consumers to their own rack; raises for others."""
    if selector_class in (None, LEADER_ONLY):
        return False
    if selector_class == RACK_AWARE:
        return True
    raise config_error(
        f"replica.selector.class: {selector_class} is not available; there are {RACK_AWARE} "
        f"and {LEADER_ONLY}"
    )


def nearest(
    partition: Partition, fetch_offset: int, rack: str, racks: Mapping[int, str | None]
) -> int | None:
    """A follower in the consumer's rack that has what it asks for; None for the leader.

    `racks` has the brokers that the consumer can reach. The leader is as good as any
    replica in its own rack, and the only choice where no follower will do.
    """
    if not rack or racks.get(partition.state.leader) == rack:
        return None
    candidates = [
        (follower.log_end_offset, follower.caught_up_ms, broker)
        for broker, follower in partition.followers.items()
        if racks.get(broker) == rack
        and broker in partition.state.isr
        and follower.log_start_offset <= fetch_offset <= follower.log_end_offset
    ]
    return max(candidates)[-1] if candidates else None
