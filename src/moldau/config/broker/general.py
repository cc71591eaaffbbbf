"""Settings of the broker as a whole."""

from moldau.config.definition import (
    Area,
    Importance,
    UpdateMode,
    boolean,
    class_name,
    integer,
    long,
    string,
)
from moldau.config.rules import at_least
from moldau.config.values import LONG_MAX
from moldau.config.versions import VERSION_RULE


class GeneralConfig(Area):
    """Who this broker is, how topics come to be, and how it stops."""

    broker_id: int = integer(
        -1,
        "Number of this broker in its cluster; -1 takes the one in `meta.properties`, or a "
        "new one.",
        importance=Importance.HIGH,
    )
    broker_id_generation_enable: bool = boolean(
        True,
        "Whether a broker with `broker.id` -1 may be given a number above "
        "`reserved.broker.max.id`.",
    )
    reserved_broker_max_id: int = integer(
        1000, "Largest number that is only ever given by hand.", at_least(0)
    )
    broker_rack: str | None = string(
        None, "Rack of this broker; replicas of a partition are spread over racks."
    )
    auto_create_topics_enable: bool = boolean(
        True,
        "Whether asking for the metadata of a missing topic creates it.",
        importance=Importance.HIGH,
    )
    delete_topic_enable: bool = boolean(
        True, "Whether topics can be deleted.", importance=Importance.HIGH
    )
    num_partitions: int = integer(
        1, "Partitions of a topic that is created without saying how many.", at_least(1)
    )
    default_replication_factor: int = integer(
        1, "Replicas of a topic that is created without saying how many."
    )
    max_request_partition_size_limit: int = integer(
        2000, "Most partitions that one DescribeTopicPartitions answer holds.", at_least(1)
    )
    create_topic_policy_class_name: str | None = class_name(
        None, "Java class that judges new topics; not supported.", importance=Importance.LOW
    )
    alter_config_policy_class_name: str | None = class_name(
        None, "Java class that judges changed settings; not supported.", importance=Importance.LOW
    )
    alter_config_policy_kraft_compatibility_enable: bool = boolean(
        False,
        "Whether that class sees what it would see in KRaft mode; without effect.",
        importance=Importance.LOW,
    )
    background_threads: int = integer(
        10,
        "Threads for background work such as flushing, deleting and loading.",
        at_least(1),
        importance=Importance.HIGH,
        update=UpdateMode.CLUSTER_WIDE,
    )
    controlled_shutdown_enable: bool = boolean(
        True, "Whether a stopping broker first hands its partitions to others."
    )
    controlled_shutdown_max_retries: int = integer(
        3, "How often a stopping broker asks the controller before it just stops."
    )
    controlled_shutdown_retry_backoff_ms: int = long(5000, "Time between two such attempts.")
    inter_broker_protocol_version: str = string(
        "3.9-IV0",
        "Version that brokers speak among themselves; keep the oldest during an upgrade.",
        VERSION_RULE,
    )
    request_timeout_ms: int = integer(
        30_000, "Time that a request to another broker may take.", importance=Importance.HIGH
    )
    server_max_startup_time_ms: int = long(
        LONG_MAX,
        "Time within which the broker must be up; for tests.",
        at_least(0),
        is_internal=True,
    )
    unstable_api_versions_enable: bool = boolean(
        False,
        "Whether unfinished API versions are offered.",
        importance=Importance.HIGH,
        is_internal=True,
    )
    unstable_feature_versions_enable: bool = boolean(
        False,
        "Whether unfinished feature versions are offered.",
        importance=Importance.HIGH,
        is_internal=True,
    )
