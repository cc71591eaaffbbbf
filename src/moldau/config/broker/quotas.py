"""Settings of how quotas are measured."""

from moldau.config.definition import Area, Importance, class_name, integer
from moldau.config.rules import at_least


class QuotaConfig(Area):
    """Windows over which rates are taken; the quotas themselves are dynamic."""

    quota_window_num: int = integer(
        11, "Samples kept for client quotas.", at_least(1), importance=Importance.LOW
    )
    quota_window_size_seconds: int = integer(
        1, "Length of each.", at_least(1), importance=Importance.LOW
    )
    controller_quota_window_num: int = integer(
        11, "Samples kept for quotas on topic changes.", at_least(1), importance=Importance.LOW
    )
    controller_quota_window_size_seconds: int = integer(
        1, "Length of each.", at_least(1), importance=Importance.LOW
    )
    replication_quota_window_num: int = integer(
        11, "Samples kept for replication throttles.", at_least(1), importance=Importance.LOW
    )
    replication_quota_window_size_seconds: int = integer(
        1, "Length of each.", at_least(1), importance=Importance.LOW
    )
    alter_log_dirs_replication_quota_window_num: int = integer(
        11,
        "Samples kept for the throttle on moves between directories.",
        at_least(1),
        importance=Importance.LOW,
    )
    alter_log_dirs_replication_quota_window_size_seconds: int = integer(
        1, "Length of each.", at_least(1), importance=Importance.LOW
    )
    client_quota_callback_class: str | None = class_name(
        None, "Java class that decides quotas; not supported.", importance=Importance.LOW
    )
