"""The settings of the connector: Debezium's names, and what is made of each."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from moldau.connect.config.definition import PluginSetting, at_least, one_of
from moldau.connect.config.values import flag, number
from moldau.connect.connectors.capture.column_mapping import (
    BINARY_MODES,
    DECIMAL_MODES,
    PLACEHOLDER,
    TIME_MODES,
)
from moldau.connect.connectors.capture.log_reader import BatchLimits
from moldau.connect.connectors.capture.settings import (
    CAPTURE_SETTINGS,
    batch_limits,
    skipped_operations,
    snapshot_mode,
)
from moldau.connect.connectors.capture.settings import log_ignored as log_ignored_of_capture
from moldau.connect.connectors.capture.settings import refused_settings as refused_of_capture
from moldau.connect.connectors.postgresql.modes import HSTORE_MODES, INTERVAL_MODES
from moldau.connect.connectors.postgresql.publication import AUTOCREATE_MODES
from moldau.connect.connectors.postgresql.server import SSL_MODES
from moldau.connect.connectors.postgresql.snapshot import ISOLATION_LEVELS

_THREADS = "snapshot.max.threads"
_SLOT_NAME = re.compile(r"[a-z0-9_]{1,63}")


def _pgoutput(value: str | None) -> str | None:
    if value == "pgoutput":
        return None
    return "only pgoutput, which every PostgreSQL since version 10 has; decoderbufs is not here"


def _slot(value: str | None) -> str | None:
    if value is not None and _SLOT_NAME.fullmatch(value):
        return None
    return "Valid replication slot name must contain only digits, lowercase characters and _"


POSTGRES_SETTINGS = (
    *CAPTURE_SETTINGS,
    PluginSetting("database.port", "INT", "5432", importance="HIGH"),
    PluginSetting("database.dbname", required=True, importance="HIGH"),
    PluginSetting("database.sslmode", default="prefer", check=one_of(*SSL_MODES)),
    PluginSetting("database.sslcert"),
    PluginSetting("database.sslkey"),
    PluginSetting("database.sslpassword", "PASSWORD"),
    PluginSetting("database.sslrootcert"),
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
    PluginSetting(
        "snapshot.isolation.mode", default="serializable", check=one_of(*ISOLATION_LEVELS)
    ),
    PluginSetting(_THREADS, "INT", "1", check=at_least(1)),
    PluginSetting("time.precision.mode", default="adaptive", check=one_of(*TIME_MODES)),
    PluginSetting("decimal.handling.mode", default="precise", check=one_of(*DECIMAL_MODES)),
    PluginSetting("binary.handling.mode", default="bytes", check=one_of(*BINARY_MODES)),
    PluginSetting("hstore.handling.mode", default="json", check=one_of(*HSTORE_MODES)),
    PluginSetting("interval.handling.mode", default="numeric", check=one_of(*INTERVAL_MODES)),
    PluginSetting("money.fraction.digits", "SHORT", "2", check=at_least(0)),
    PluginSetting("include.unknown.datatypes", "BOOLEAN", "false"),
    PluginSetting("unavailable.value.placeholder", default=PLACEHOLDER),
    PluginSetting("status.update.interval.ms", "INT", "10000", check=at_least(100)),
)

# What would change the records, or what is promised of them, if it were passed over.
_REFUSED = {
    r"topic\.naming\.strategy": "topics are called PREFIX.SCHEMA.TABLE here",
    r"topic\.delimiter": "topics are called PREFIX.SCHEMA.TABLE here",
    r"replica\.identity\.autoset\.values": "set it with ALTER TABLE … REPLICA IDENTITY",
}
_IGNORED = {
    "slot.drop.on.stop": "the slot stays: a stop would lose changes; drop it by hand",
    "slot.failover": "the slot is made without it",
    "slot.stream.params": "the stream has no parameters",
    "snapshot.locking.mode": "a snapshot needs no locks",
    "snapshot.fetch.size": "a snapshot is read by COPY",
    "flush.lsn.source": "what is stored is always confirmed",
    "lsn.flush.mode": "what is stored, and what is not captured, is confirmed",
    "read.only": "nothing is written to the database but the slot and the publication",
    "offset.mismatch.strategy": "a slot that is gone or lost fails",
    "schema.refresh.mode": "tables are looked up when they change",
    "xmin.fetch.interval.ms": "xmin is not given",
    "database.tcpKeepAlive": "connections always watch the network",
}


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    """Settings as what they mean, where no other module has them."""

    prefix: str
    slot: str
    snapshot_mode: str
    isolation: str
    threads: int | None
    """How many connections read tables at a time; None if it is not set."""
    skipped: frozenset[str]
    has_transactions: bool
    limits: BatchLimits
    retries_max: int
    retry_s: float
    update_s: float


def capture_settings(config: Mapping[str, str]) -> CaptureSettings:
    """ConfigError for what cannot be meant."""
    return CaptureSettings(
        config.get("topic.prefix", ""),
        config.get("slot.name", "debezium"),
        snapshot_mode(config),
        config.get("snapshot.isolation.mode", "serializable"),
        number(config, _THREADS, 1) if _THREADS in config else None,
        skipped_operations(config),
        flag(config, "provide.transaction.metadata", default=False),
        batch_limits(config),
        number(config, "slot.max.retries", 6),
        number(config, "slot.retry.delay.ms", 10_000) / 1000,
        number(config, "status.update.interval.ms", 10_000) / 1000,
    )


def refused_settings(config: Mapping[str, str]) -> dict[str, str]:
    """What is not here, and why, by setting."""
    return refused_of_capture(config, _REFUSED)


def log_ignored(config: Mapping[str, str]) -> None:
    """Say which settings have no effect."""
    log_ignored_of_capture(config, _IGNORED)
