"""The settings of the connectors: Debezium's names, and what is made of each."""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.connect.config.definition import PluginSetting, one_of
from moldau.connect.config.values import flag
from moldau.connect.connectors.capture.column_mapping import (
    BINARY_MODES,
    DECIMAL_MODES,
    PLACEHOLDER,
)
from moldau.connect.connectors.capture.log_reader import BatchLimits
from moldau.connect.connectors.capture.settings import (
    CAPTURE_SETTINGS,
    batch_limits,
    chosen,
    skipped_operations,
    snapshot_mode,
)
from moldau.connect.connectors.capture.settings import log_ignored as log_ignored_of_capture
from moldau.connect.connectors.capture.settings import refused_settings as refused_of_capture
from moldau.connect.connectors.mariadb.modes import TIME_MODES, UNSIGNED_MODES
from moldau.connect.connectors.mariadb.server import SSL_MODES

LOCKING_MODES = ("minimal", "extended", "none")
BINLOG_SETTINGS = (
    *CAPTURE_SETTINGS,
    PluginSetting("database.port", "INT", "3306", importance="HIGH"),
    PluginSetting("database.server.id", "LONG", importance="HIGH"),
    PluginSetting("database.ssl.mode", default="preferred", check=one_of(*SSL_MODES)),
    PluginSetting("database.ssl.ca"),
    PluginSetting("database.ssl.cert"),
    PluginSetting("database.ssl.key"),
    PluginSetting("database.include.list", "LIST", ""),
    PluginSetting("database.exclude.list", "LIST", ""),
    PluginSetting("snapshot.locking.mode", default="minimal", check=one_of(*LOCKING_MODES)),
    PluginSetting("time.precision.mode", default=TIME_MODES[0], check=one_of(*TIME_MODES)),
    PluginSetting("decimal.handling.mode", default="precise", check=one_of(*DECIMAL_MODES)),
    PluginSetting("binary.handling.mode", default="bytes", check=one_of(*BINARY_MODES)),
    PluginSetting("bigint.unsigned.handling.mode", default="long", check=one_of(*UNSIGNED_MODES)),
    PluginSetting("unavailable.value.placeholder", default=PLACEHOLDER),
)

_REFUSED = {
    r"topic\.naming\.strategy": "topics are called PREFIX.DATABASE.TABLE here",
    r"topic\.delimiter": "topics are called PREFIX.DATABASE.TABLE here",
    r"gtid\.source\.(includes|excludes)": "changes of all servers are captured",
    r"database\.ssl\.(keystore|truststore).*": (
        "stores of Java's are not read: name files in PEM by database.ssl.ca, .cert and .key"
    ),
    r"event\.deserialization\.failure\.handling\.mode|inconsistent\.schema\.handling\.mode": (
        "what cannot be read fails"
    ),
    r"table\.ignore\.builtin": "tables of the server itself are never captured",
}
_HARMLESS_WORDS = {"fail", "true"}
_IGNORED = {
    "snapshot.max.threads": "tables are read one after the other",
    "include.schema.changes": "there is no topic of statements that change tables",
    "include.query": "records do not say the statement",
    "include.schema.comments": "schemas have no comments",
    "enable.time.adjuster": "MariaDB completes years of two digits itself",
    "snapshot.fetch.size": "rows are taken as they come",
    "min.row.count.to.stream.results": "rows are taken as they come",
    "connect.keep.alive": "the server's heartbeats watch the connection",
    "connect.keep.alive.interval.ms": "the server's heartbeats watch the connection",
    "connect.timeout.ms": "a connection is tried for 10 s",
    "binlog.buffer.size": "a transaction is given in parts, see max.queue.size",
    "use.nongraceful.disconnect": "connections are closed",
    "database.protocol": "the protocol is the server's own",
    "database.jdbc.driver": "there is no JDBC",
    "database.query.timeout.ms": "questions end with the network's limits",
}
_HISTORY = "schema.history.internal"


@dataclass(frozen=True, slots=True)
class BinlogSettings:
    """Settings as what they mean, where no other module has them."""

    prefix: str
    snapshot_mode: str
    locking: str
    skipped: frozenset[str]
    has_transactions: bool
    limits: BatchLimits


def capture_settings(config: Mapping[str, str]) -> BinlogSettings:
    """ConfigError for what cannot be meant."""
    return BinlogSettings(
        config.get("topic.prefix", ""),
        snapshot_mode(config),
        chosen(config, "snapshot.locking.mode", LOCKING_MODES),
        skipped_operations(config),
        flag(config, "provide.transaction.metadata", default=False),
        batch_limits(config),
    )


def refused_settings(config: Mapping[str, str]) -> dict[str, str]:
    """What is not here, and why, by setting."""
    found = refused_of_capture(config, _REFUSED)
    return {name: why for name, why in found.items() if config[name] not in _HARMLESS_WORDS}


def log_ignored(config: Mapping[str, str]) -> None:
    """Say which settings have no effect."""
    log_ignored_of_capture(config, _IGNORED)
    history = {name: "tables are known from the log" for name in config if _HISTORY in name}
    log_ignored_of_capture(config, history)
