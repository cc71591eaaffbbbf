"""Broker settings that exist only dynamically: throttles of replication."""

from moldau.config.broker.broker import broker_settings
from moldau.config.definition import Area, Setting, UpdateMode, long, settings_of
from moldau.config.rules import at_least
from moldau.config.synonyms import base_name
from moldau.config.values import LONG_MAX


class ThrottleConfig(Area):
    """Rates for the replicas that a topic lists as throttled."""

    leader_replication_throttled_rate: int = long(
        LONG_MAX,
        "Bytes per second that a leader sends to throttled replicas.",
        at_least(0),
        update=UpdateMode.CLUSTER_WIDE,
    )
    follower_replication_throttled_rate: int = long(
        LONG_MAX,
        "Bytes per second that a follower fetches for throttled replicas.",
        at_least(0),
        update=UpdateMode.CLUSTER_WIDE,
    )
    replica_alter_log_dirs_io_max_bytes_per_second: int = long(
        LONG_MAX,
        "Bytes per second that move between directories of one broker.",
        at_least(0),
        update=UpdateMode.CLUSTER_WIDE,
    )


def find_broker_setting(name: str) -> Setting | None:
    """The definition behind a broker setting, with a listener prefix or not; None if unknown."""
    return broker_settings().get(base_name(name)) or settings_of(ThrottleConfig).get(name)
