"""The settings of the connector: Debezium's names, and what is made of each."""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass

from moldau.connect.config.definition import PluginSetting, at_least, one_of
from moldau.connect.config.values import flag, listed, number
from moldau.connect.connectors.postgresql.modes import (
    BINARY_MODES,
    DECIMAL_MODES,
    HSTORE_MODES,
    INTERVAL_MODES,
    PLACEHOLDER,
    TIME_MODES,
)
from moldau.connect.connectors.postgresql.publication import AUTOCREATE_MODES
from moldau.connect.connectors.postgresql.server import SSL_MODES
from moldau.connect.connectors.postgresql.snapshot import ISOLATION_LEVELS
from moldau.connect.errors import ConfigError

_log = logging.getLogger(__name__)

SNAPSHOT_MODES = ("initial", "always", "initial_only", "no_data", "when_needed")
_OPERATIONS = {"c": "c", "u": "u", "d": "d", "t": "t", "m": "m", "none": ""}
_SLOT_NAME = re.compile(r"[a-z0-9_]{1,63}")
_TOPIC_PREFIX = re.compile(r"[a-zA-Z0-9._\-]{1,200}")


def _snapshot_mode(value: str | None) -> str | None:
    if value in SNAPSHOT_MODES:
        return None
    if value in ("configuration_based", "custom"):
        return "it needs classes of Java's, or several settings of its own: choose another mode"
    if value in ("never", "schema_only"):
        return "it is called no_data by now"
    return f"String must be one of: {', '.join(SNAPSHOT_MODES)}"


def _pgoutput(value: str | None) -> str | None:
    if value == "pgoutput":
        return None
    return "only pgoutput, which every PostgreSQL since version 10 has; decoderbufs is not here"


def _slot(value: str | None) -> str | None:
    if value is not None and _SLOT_NAME.fullmatch(value):
        return None
    return "Valid replication slot name must contain only digits, lowercase characters and _"


def _prefix(value: str | None) -> str | None:
    if value is None or _TOPIC_PREFIX.fullmatch(value):
        return None
    return "it is part of topics' names: letters, digits, '.', '_' and '-' alone"


def _operations(value: str | None) -> str | None:
    unknown = [each.strip() for each in (value or "").split(",") if each.strip()]
    unknown = [each for each in unknown if each not in _OPERATIONS]
    return f"{unknown[0]} is none of {', '.join(_OPERATIONS)}" if unknown else None


POSTGRES_SETTINGS = (
    PluginSetting("database.hostname", required=True, importance="HIGH"),
    PluginSetting("database.port", "INT", "5432", importance="HIGH"),
    PluginSetting("database.user", required=True, importance="HIGH"),
    PluginSetting("database.password", "PASSWORD", importance="HIGH"),
    PluginSetting("database.dbname", required=True, importance="HIGH"),
    PluginSetting("database.sslmode", default="prefer", check=one_of(*SSL_MODES)),
    PluginSetting("database.sslcert"),
    PluginSetting("database.sslkey"),
    PluginSetting("database.sslpassword", "PASSWORD"),
    PluginSetting("database.sslrootcert"),
    PluginSetting("topic.prefix", required=True, importance="HIGH", check=_prefix),
    PluginSetting("plugin.name", default="pgoutput", check=_pgoutput),
    PluginSetting("slot.name", default="debezium", check=_slot),
    PluginSetting("slot.max.retries", "INT", "6", check=at_least(0)),
    PluginSetting("slot.retry.delay.ms", "LONG", "10000", check=at_least(0)),
    PluginSetting("publication.name", default="dbz_publication"),
    PluginSetting(
        "publication.autocreate.mode", default="all_tables", check=one_of(*AUTOCREATE_MODES)
    ),
    PluginSetting("publish.via.partition.root", "BOOLEAN", "false"),
    PluginSetting("schema.include.list", "LIST", ""),
    PluginSetting("schema.exclude.list", "LIST", ""),
    PluginSetting("table.include.list", "LIST", ""),
    PluginSetting("table.exclude.list", "LIST", ""),
    PluginSetting("column.include.list", "LIST", ""),
    PluginSetting("column.exclude.list", "LIST", ""),
    PluginSetting("message.key.columns", default=""),
    PluginSetting("snapshot.mode", default="initial", check=_snapshot_mode),
    PluginSetting(
        "snapshot.isolation.mode", default="serializable", check=one_of(*ISOLATION_LEVELS)
    ),
    PluginSetting("snapshot.include.collection.list", "LIST", ""),
    PluginSetting("time.precision.mode", default="adaptive", check=one_of(*TIME_MODES)),
    PluginSetting("decimal.handling.mode", default="precise", check=one_of(*DECIMAL_MODES)),
    PluginSetting("binary.handling.mode", default="bytes", check=one_of(*BINARY_MODES)),
    PluginSetting("hstore.handling.mode", default="json", check=one_of(*HSTORE_MODES)),
    PluginSetting("interval.handling.mode", default="numeric", check=one_of(*INTERVAL_MODES)),
    PluginSetting("money.fraction.digits", "SHORT", "2", check=at_least(0)),
    PluginSetting("include.unknown.datatypes", "BOOLEAN", "false"),
    PluginSetting("unavailable.value.placeholder", default=PLACEHOLDER),
    PluginSetting("tombstones.on.delete", "BOOLEAN", "true"),
    PluginSetting("skipped.operations", "LIST", "t", check=_operations),
    PluginSetting("provide.transaction.metadata", "BOOLEAN", "false"),
    PluginSetting("heartbeat.interval.ms", "INT", "0", check=at_least(0)),
    PluginSetting("heartbeat.action.query"),
    PluginSetting("topic.heartbeat.prefix", default="__debezium-heartbeat"),
    PluginSetting("status.update.interval.ms", "INT", "10000", check=at_least(100)),
    PluginSetting("max.batch.size", "INT", "2048", check=at_least(1)),
    PluginSetting("max.queue.size", "INT", "20000", check=at_least(1)),
    PluginSetting("max.queue.size.in.bytes", "LONG", "33554432", check=at_least(0)),
    PluginSetting("poll.interval.ms", "LONG", "500", check=at_least(1)),
)

# What would change the records, or what is promised of them, if it were passed over.
_REFUSED = {
    r"column\.mask\.hash\..*": "hashes are not here; column.mask.with.N.chars hides all",
    r"snapshot\.select\.statement\.overrides.*": "a snapshot reads whole tables here",
    r"topic\.naming\.strategy": "topics are called PREFIX.SCHEMA.TABLE here",
    r"topic\.delimiter": "topics are called PREFIX.SCHEMA.TABLE here",
    r"signal\.data\.collection|signal\.kafka\..*": "signals and incremental snapshots are not here",
    r"schema\.name\.adjustment\.mode|field\.name\.adjustment\.mode": "names are kept as they are",
    r"converters": "converters of columns are classes of Java's",
    r"post\.processors": "post processors are classes of Java's",
    r"datatype\.propagate\.source\.type|column\.propagate\.source\.type": (
        "schemas do not say types of the source"
    ),
    r"replica\.identity\.autoset\.values": "set it with ALTER TABLE … REPLICA IDENTITY",
}
_HARMLESS = frozenset({"none", "", ".", "io.debezium.schema.SchemaTopicNamingStrategy"})
_IGNORED = {
    "slot.drop.on.stop": "the slot stays: a stop would lose changes; drop it by hand",
    "slot.failover": "the slot is made without it",
    "slot.stream.params": "the stream has no parameters",
    "snapshot.locking.mode": "a snapshot needs no locks",
    "snapshot.fetch.size": "a snapshot is read by COPY",
    "snapshot.max.threads": "tables are read one after the other",
    "snapshot.delay.ms": "a snapshot begins at once",
    "flush.lsn.source": "what is stored is always confirmed",
    "lsn.flush.mode": "what is stored, and what is not captured, is confirmed",
    "read.only": "nothing is written to the database but the slot and the publication",
    "offset.mismatch.strategy": "a slot that is gone or lost fails",
    "event.processing.failure.handling.mode": "a row that cannot be converted fails",
    "errors.max.retries": "restarts are the worker's",
    "schema.refresh.mode": "tables are looked up when they change",
    "xmin.fetch.interval.ms": "xmin is not given",
    "database.initial.statements": "no statements are run",
    "database.tcpKeepAlive": "connections always watch the network",
}


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    """Settings as what they mean, where no other module has them."""

    prefix: str
    slot: str
    snapshot_mode: str
    isolation: str
    skipped: frozenset[str]
    has_transactions: bool
    heartbeat_s: float
    batch_rows: int
    rows_max: int
    bytes_max: int
    poll_s: float
    retries_max: int
    retry_s: float
    update_s: float


def capture_settings(config: Mapping[str, str]) -> CaptureSettings:
    """ConfigError for what cannot be meant."""
    mode = config.get("snapshot.mode", "initial")
    problem = _snapshot_mode(mode)
    if problem is not None:
        raise ConfigError(f"snapshot.mode: {mode}: {problem}")
    operations = listed(config, "skipped.operations") or ["t"]
    return CaptureSettings(
        config.get("topic.prefix", ""),
        config.get("slot.name", "debezium"),
        mode,
        config.get("snapshot.isolation.mode", "serializable"),
        frozenset(operations) - {"none"},
        flag(config, "provide.transaction.metadata", default=False),
        number(config, "heartbeat.interval.ms", 0) / 1000,
        number(config, "max.batch.size", 2048),
        number(config, "max.queue.size", 20_000),
        number(config, "max.queue.size.in.bytes", 32 * 2**20) or 32 * 2**20,
        number(config, "poll.interval.ms", 500) / 1000,
        number(config, "slot.max.retries", 6),
        number(config, "slot.retry.delay.ms", 10_000) / 1000,
        number(config, "status.update.interval.ms", 10_000) / 1000,
    )


def refused_settings(config: Mapping[str, str]) -> dict[str, str]:
    """What is not here, and why, by setting."""
    return {
        name: f"The '{name}' value is invalid: {why}"
        for name, text in config.items()
        for pattern, why in _REFUSED.items()
        if re.fullmatch(pattern, name) and text.strip() not in _HARMLESS
    }


def log_ignored(config: Mapping[str, str]) -> None:
    """Say which settings have no effect."""
    for name, why in _IGNORED.items():
        if name in config:
            _log.warning("setting %s has no effect: %s", name, why)
