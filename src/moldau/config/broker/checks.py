"""What several broker settings must fulfil together."""

from itertools import pairwise

from moldau.config.broker.broker import BrokerConfig
from moldau.config.listeners import parse_map
from moldau.config.topic_defaults import topic_defaults
from moldau.config.values import ConfigType, config_error, invalid, parse

_PRINCIPAL_BUILDER = "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"
_AUTHORIZERS = (
    "",
    "kafka.security.authorizer.AclAuthorizer",
    "kafka.security.auth.SimpleAclAuthorizer",
    "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
)
"""Kafka's names for its authorizers, which all stand for ours."""

_LIMITED_FROM_BOTH_SIDES = (
    "consumer heartbeat.interval",
    "consumer session.timeout",
    "share heartbeat.interval",
    "share session.timeout",
    "share record.lock.duration",
)
"""What a group's protocol sets for its members, between a least and a greatest value."""


def check_broker_config(config: BrokerConfig) -> None:
    """Raise InvalidConfig for a combination that Kafka, or this broker, refuses."""
    _check_mode(config)
    _check_ids(config)
    _check_logs(config)
    _check_replication(config)
    _check_network(config)
    _check_groups(config)
    _check_security(config)


def _check_mode(config: BrokerConfig) -> None:
    """Refuse the modes of Kafka that this broker does not have."""
    if config.kraft.process_roles:
        roles = ",".join(config.kraft.process_roles)
        raise invalid("process.roles", roles, "unset: a broker runs alone or on ZooKeeper")
    if config.kraft.controller_listener_names:
        names = config.kraft.controller_listener_names
        raise invalid("controller.listener.names", names, "unset, it belongs to KRaft")
    if config.zookeeper.zookeeper_metadata_migration_enable:
        raise invalid("zookeeper.metadata.migration.enable", "true", "false, KRaft is not there")
    if config.remote.remote_log_storage_system_enable:
        raise invalid(
            "remote.log.storage.system.enable", "true", "false, tiered storage is not there"
        )


def _check_ids(config: BrokerConfig) -> None:
    general = config.general
    if general.broker_id != config.kraft.node_id:
        raise config_error(
            f"broker.id ({general.broker_id}) and node.id ({config.kraft.node_id}) must be the same"
        )
    if not general.broker_id_generation_enable:
        if general.broker_id < 0:
            raise invalid("broker.id", general.broker_id, "at least 0")
    elif not -1 <= general.broker_id <= general.reserved_broker_max_id:
        allowed = f"between -1 and reserved.broker.max.id ({general.reserved_broker_max_id})"
        raise invalid("broker.id", general.broker_id, allowed)


def _check_logs(config: BrokerConfig) -> None:
    if not config.log_dirs:
        raise invalid("log.dirs", config.log.log_dirs or "", "at least one directory")
    defaults = topic_defaults(config)
    if defaults.segment_ms < 1:
        raise invalid("log.roll.ms", defaults.segment_ms, "at least 1")
    if defaults.segment_jitter_ms < 0:
        raise invalid("log.roll.jitter.ms", defaults.segment_jitter_ms, "at least 0")
    if defaults.retention_ms == 0:
        raise invalid("log.retention.ms", 0, "-1 for no limit, or at least 1")
    cleaner = config.cleaner
    if cleaner.log_cleaner_enable:
        if cleaner.log_cleaner_threads < 1:
            raise invalid("log.cleaner.threads", cleaner.log_cleaner_threads, "at least 1")
        size = cleaner.log_cleaner_dedupe_buffer_size
        if size // cleaner.log_cleaner_threads <= 1_048_576:
            raise invalid(
                "log.cleaner.dedupe.buffer.size", size, "more than 1048576 per cleaner thread"
            )


def _check_replication(config: BrokerConfig) -> None:
    replication = config.replication
    wait_ms = replication.replica_fetch_wait_max_ms
    if wait_ms > replication.replica_socket_timeout_ms:
        allowed = f"at most replica.socket.timeout.ms ({replication.replica_socket_timeout_ms})"
        raise invalid("replica.fetch.wait.max.ms", wait_ms, allowed)
    if wait_ms > replication.replica_lag_time_max_ms:
        allowed = f"at most replica.lag.time.max.ms ({replication.replica_lag_time_max_ms})"
        raise invalid("replica.fetch.wait.max.ms", wait_ms, allowed)


def _check_network(config: BrokerConfig) -> None:
    network = config.network
    overrides_setting = "max.connections.per.ip.overrides"
    overrides = parse_map(overrides_setting, network.max_connections_per_ip_overrides)
    for count in overrides.values():
        parse(overrides_setting, ConfigType.INT, count)
    if network.max_connections_per_ip == 0 and not overrides:
        raise invalid("max.connections.per.ip", 0, f"at least 1 without {overrides_setting}")
    delay_ms, idle_ms = (
        network.connection_failed_authentication_delay_ms,
        network.connections_max_idle_ms,
    )
    if 0 <= idle_ms <= delay_ms:
        raise invalid(
            "connection.failed.authentication.delay.ms",
            delay_ms,
            f"less than connections.max.idle.ms ({idle_ms})",
        )
    limit = network.queued_max_request_bytes
    if 0 < limit < network.socket_request_max_bytes:
        allowed = f"at least socket.request.max.bytes ({network.socket_request_max_bytes})"
        raise invalid("queued.max.request.bytes", limit, allowed)


def _check_groups(config: BrokerConfig) -> None:
    groups = config.groups
    acks = groups.offsets_commit_required_acks
    if not -1 <= acks <= groups.offsets_topic_replication_factor:
        replicas = groups.offsets_topic_replication_factor
        allowed = f"between -1 and offsets.topic.replication.factor ({replicas})"
        raise invalid("offsets.commit.required.acks", acks, allowed)
    if not 0 <= groups.offsets_topic_compression_codec <= 4:
        codec = groups.offsets_topic_compression_codec
        raise invalid("offsets.topic.compression.codec", codec, "between 0 and 4")
    for limited in _LIMITED_FROM_BOTH_SIDES:
        protocol, _, quantity = limited.partition(" ")
        _check_order(
            config,
            f"group.{protocol}.min.{quantity}.ms",
            f"group.{protocol}.{quantity}.ms",
            f"group.{protocol}.max.{quantity}.ms",
        )


def _check_security(config: BrokerConfig) -> None:
    """Refuse classes that cannot be loaded: going on without them would open the broker."""
    security = config.security
    if security.principal_builder_class != _PRINCIPAL_BUILDER:
        given = security.principal_builder_class
        raise invalid("principal.builder.class", given, _PRINCIPAL_BUILDER)
    if security.authorizer_class_name not in _AUTHORIZERS:
        given = security.authorizer_class_name
        allowed = f"empty or one of {', '.join(filter(None, _AUTHORIZERS))}"
        raise invalid("authorizer.class.name", given, allowed)


def _check_order(config: BrokerConfig, *names: str) -> None:
    """Each of these numbers must be at least the one before."""
    for lower, upper in pairwise(names):
        low, high = config.value(lower), config.value(upper)
        assert isinstance(low, int)
        assert isinstance(high, int)
        if high < low:
            raise invalid(upper, high, f"at least {lower} ({low})")
