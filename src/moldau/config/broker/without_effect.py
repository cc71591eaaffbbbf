"""Broker settings of Kafka that are accepted and change nothing here, and why."""

_LOOP = "one event loop does the work of Kafka's threads"
_KRAFT = "it is of Kafka without ZooKeeper"
_OPENSSL = "it is Java's; OpenSSL does this here"
_SHARE = "there are no share groups"
_TIERED = "there is no tiered storage"
_METRICS = "metrics are those of the page for Prometheus"
_CHECKED_BY_KAFKA = "the broker decides on the timeouts of its consumer groups, not their members"

_BY_PREFIX = {
    "sasl.kerberos.": "GSSAPI (Kerberos) is not available",
    "sasl.login.refresh.": "a broker gets a new token for every login",
    "sasl.login.retry.": "brokers try again at the pace of their connections",
    "group.share.": _SHARE,
    "remote.": _TIERED,
    "controller.quorum.": _KRAFT,
    "metadata.log.": _KRAFT,
    "metadata.max.": _KRAFT,
}

_BY_NAME = {
    "num.network.threads": _LOOP,
    "num.io.threads": _LOOP,
    "background.threads": _LOOP,
    "group.coordinator.threads": _LOOP,
    "num.replica.alter.log.dirs.threads": _LOOP,
    "num.recovery.threads.per.data.dir": "logs are recovered as fast as the disks allow",
    "queued.max.requests": "requests do not queue, each connection has one in progress",
    "fetch.purgatory.purge.interval.requests": "nothing is left behind to be purged",
    "producer.purgatory.purge.interval.requests": "nothing is left behind to be purged",
    "delete.records.purgatory.purge.interval.requests": "nothing is left behind to be purged",
    "replica.socket.receive.buffer.bytes": "the operating system chooses it",
    "socket.connection.setup.timeout.max.ms": "brokers try again at the same pace",
    "log.preallocate": "segments grow as they are written",
    "log.initial.task.delay.ms": "logs are looked after from the start on",
    "log.cleaner.io.buffer.load.factor": "the cleaner's map is always as full as it can be",
    "group.coordinator.append.linger.ms": "what groups store is appended at once",
    "group.coordinator.new.enable": "there is one coordinator, for both protocols",
    "group.consumer.min.session.timeout.ms": _CHECKED_BY_KAFKA,
    "group.consumer.max.session.timeout.ms": _CHECKED_BY_KAFKA,
    "group.consumer.min.heartbeat.interval.ms": _CHECKED_BY_KAFKA,
    "group.consumer.max.heartbeat.interval.ms": _CHECKED_BY_KAFKA,
    "sasl.mechanism.controller.protocol": _KRAFT,
    "sasl.login.connect.timeout.ms": "sasl.login.read.timeout.ms bounds both",
    "ssl.protocol": "ssl.enabled.protocols says which versions are spoken",
    "ssl.keymanager.algorithm": _OPENSSL,
    "ssl.trustmanager.algorithm": _OPENSSL,
    "ssl.secure.random.implementation": _OPENSSL,
    "metrics.num.samples": _METRICS,
    "metrics.recording.level": _METRICS,
    "auto.include.jmx.reporter": _METRICS,
    "kafka.metrics.polling.interval.secs": _METRICS,
    "telemetry.max.bytes": "clients push no metrics to this broker",
    "log.local.retention.ms": _TIERED,
    "log.local.retention.bytes": _TIERED,
    "broker.heartbeat.interval.ms": _KRAFT,
    "broker.session.timeout.ms": _KRAFT,
    "initial.broker.registration.timeout.ms": _KRAFT,
    "eligible.leader.replicas.enable": _KRAFT,
    "unclean.leader.election.interval.ms": _KRAFT,
    "log.dir.failure.timeout.ms": _KRAFT,
    "server.max.startup.time.ms": _KRAFT,
    "zookeeper.metadata.migration.min.batch.size": _KRAFT,
    "alter.config.policy.kraft.compatibility.enable": _KRAFT,
    "unstable.api.versions.enable": "all versions that are served are stable",
    "unstable.feature.versions.enable": "all versions that are served are stable",
}


def reason_of(setting: str) -> str | None:
    """Why a setting changes nothing; None if it does, or is not known."""
    reason = _BY_NAME.get(setting)
    if reason is None:
        reason = next((_BY_PREFIX[one] for one in _BY_PREFIX if setting.startswith(one)), None)
    return reason
