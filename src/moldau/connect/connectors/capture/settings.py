"""The settings that Debezium's connectors share, and what is made of them."""

import logging
import re
from collections.abc import Mapping

from moldau.connect.config.definition import PluginSetting, at_least
from moldau.connect.config.values import listed, number
from moldau.connect.connectors.capture.log_reader import BatchLimits
from moldau.connect.errors import ConfigError

_log = logging.getLogger(__name__)

SNAPSHOT_MODES = ("initial", "always", "initial_only", "no_data", "when_needed")
READS_FIRST = frozenset({"initial", "initial_only", "when_needed"})
"""Modes that read the tables if that was not done yet."""
_OPERATIONS = {"c": "c", "u": "u", "d": "d", "t": "t", "m": "m", "none": ""}
_TOPIC_PREFIX = re.compile(r"[a-zA-Z0-9._\-]{1,200}")
_QUEUE_BYTES = 32 * 2**20


def snapshot_mode_problem(value: str | None) -> str | None:
    """What is wrong with a `snapshot.mode`."""
    if value in SNAPSHOT_MODES:
        return None
    if value in ("configuration_based", "custom"):
        return "it needs classes of Java's, or several settings of its own: choose another mode"
    if value in ("never", "schema_only"):
        return "it is called no_data by now"
    return f"String must be one of: {', '.join(SNAPSHOT_MODES)}"


def _prefix(value: str | None) -> str | None:
    if value is None or _TOPIC_PREFIX.fullmatch(value):
        return None
    return "it is part of topics' names: letters, digits, '.', '_' and '-' alone"


def _operations(value: str | None) -> str | None:
    unknown = [each.strip() for each in (value or "").split(",") if each.strip()]
    unknown = [each for each in unknown if each not in _OPERATIONS]
    return f"{unknown[0]} is none of {', '.join(_OPERATIONS)}" if unknown else None


CAPTURE_SETTINGS = (
    PluginSetting("database.hostname", required=True, importance="HIGH"),
    PluginSetting("database.user", required=True, importance="HIGH"),
    PluginSetting("database.password", "PASSWORD", importance="HIGH"),
    PluginSetting("topic.prefix", required=True, importance="HIGH", check=_prefix),
    PluginSetting("table.include.list", "LIST", ""),
    PluginSetting("table.exclude.list", "LIST", ""),
    PluginSetting("column.include.list", "LIST", ""),
    PluginSetting("column.exclude.list", "LIST", ""),
    PluginSetting("message.key.columns", default=""),
    PluginSetting("snapshot.mode", default="initial", check=snapshot_mode_problem),
    PluginSetting("snapshot.include.collection.list", "LIST", ""),
    PluginSetting("tombstones.on.delete", "BOOLEAN", "true"),
    PluginSetting("skipped.operations", "LIST", "t", check=_operations),
    PluginSetting("provide.transaction.metadata", "BOOLEAN", "false"),
    PluginSetting("heartbeat.interval.ms", "INT", "0", check=at_least(0)),
    PluginSetting("heartbeat.action.query"),
    PluginSetting("topic.heartbeat.prefix", default="__debezium-heartbeat"),
    PluginSetting("max.batch.size", "INT", "2048", check=at_least(1)),
    PluginSetting("max.queue.size", "INT", "20000", check=at_least(1)),
    PluginSetting("max.queue.size.in.bytes", "LONG", str(_QUEUE_BYTES), check=at_least(0)),
    PluginSetting("poll.interval.ms", "LONG", "500", check=at_least(1)),
)

# What would change the records, or what is promised of them, if it were passed over.
_REFUSED = {
    r"column\.mask\.hash\..*": "hashes are not here; column.mask.with.N.chars hides all",
    r"snapshot\.select\.statement\.overrides.*": "a snapshot reads whole tables here",
    r"signal\.data\.collection|signal\.kafka\..*": "signals and incremental snapshots are not here",
    r"schema\.name\.adjustment\.mode|field\.name\.adjustment\.mode": "names are kept as they are",
    r"converters": "converters of columns are classes of Java's",
    r"post\.processors": "post processors are classes of Java's",
    r"datatype\.propagate\.source\.type|column\.propagate\.source\.type": (
        "schemas do not say types of the source"
    ),
}
_HARMLESS = frozenset(
    {
        *("none", "", "."),
        "io.debezium.schema.SchemaTopicNamingStrategy",
        "io.debezium.schema.DefaultTopicNamingStrategy",
    }
)
_IGNORED = {
    "snapshot.delay.ms": "a snapshot begins at once",
    "event.processing.failure.handling.mode": "a row that cannot be converted fails",
    "errors.max.retries": "restarts are the worker's",
    "database.initial.statements": "no statements are run",
}


def skipped_operations(config: Mapping[str, str]) -> frozenset[str]:
    """Of which changes there are no records."""
    return frozenset(listed(config, "skipped.operations") or ["t"]) - {"none"}


def snapshot_mode(config: Mapping[str, str]) -> str:
    """ConfigError for one that is not here."""
    mode = config.get("snapshot.mode", "initial")
    problem = snapshot_mode_problem(mode)
    if problem is not None:
        raise ConfigError(f"snapshot.mode: {mode}: {problem}")
    return mode


def batch_limits(config: Mapping[str, str]) -> BatchLimits:
    """How much at once."""
    return BatchLimits(
        number(config, "max.batch.size", 2048),
        number(config, "max.queue.size", 20_000),
        number(config, "max.queue.size.in.bytes", _QUEUE_BYTES) or _QUEUE_BYTES,
        number(config, "poll.interval.ms", 500) / 1000,
        number(config, "heartbeat.interval.ms", 0) / 1000,
    )


def refused_settings(config: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """What is not here, and why, by setting; a database has more of its own."""
    return {
        name: f"The '{name}' value is invalid: {why}"
        for name, text in config.items()
        for pattern, why in {**_REFUSED, **more}.items()
        if re.fullmatch(pattern, name) and text.strip() not in _HARMLESS
    }


def log_ignored(config: Mapping[str, str], more: Mapping[str, str]) -> None:
    """Say which settings have no effect."""
    for name, why in {**_IGNORED, **more}.items():
        if name in config:
            _log.warning("setting %s has no effect: %s", name, why)


def chosen(config: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str:
    """One of several words, the first unless set; ConfigError for another."""
    found = config.get(name, allowed[0]).strip().lower()
    if found not in allowed:
        raise ConfigError(f"{name}: {found} is none of {', '.join(allowed)}")
    return found
