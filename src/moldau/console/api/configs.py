"""Settings as pages show them: the value, where it is from, and what it would be otherwise."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from moldau.client.admin.configs import ConfigResource, ConfigSource
from moldau.errors import KafkaError

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin
    from moldau.client.admin.configs import ConfigEntry

_OWN = (ConfigSource.TOPIC, ConfigSource.GROUP, ConfigSource.DYNAMIC_BROKER)
_MINUTE_MS, _HOUR_MS = 60_000, 3_600_000
_IN_HOURS = {
    "retention.ms": {
        "log.retention.ms": 1,
        "log.retention.minutes": _MINUTE_MS,
        "log.retention.hours": _HOUR_MS,
    },
    "segment.ms": {"log.roll.ms": 1, "log.roll.hours": _HOUR_MS},
    "segment.jitter.ms": {"log.roll.jitter.ms": 1, "log.roll.jitter.hours": _HOUR_MS},
}
"""Brokers do not name these as synonyms of a topic's setting, since they have other units."""


async def with_defaults(
    admin: "Admin", configs: "Mapping[str, ConfigEntry]"
) -> list[dict[str, object]]:
    """The settings of a topic; of which brokers have the default in another unit, that as well."""
    rows = entries(configs)
    unsaid = [row for row in rows if row["default"] is None and str(row["name"]) in _IN_HOURS]
    if not unsaid:
        return rows
    try:
        cluster = await admin.describe_cluster()
        resource = ConfigResource.broker(min(each.node_id for each in cluster.brokers))
        found = (await admin.describe_configs([resource]))[resource]
    except KafkaError:
        return rows  # who may not see the brokers' settings sees those of the topic
    for row in unsaid:
        row["default"] = _in_ms(found, _IN_HOURS[str(row["name"])].items())
    return rows


def _in_ms(configs: "Mapping[str, ConfigEntry]", names: Iterable[tuple[str, int]]) -> str | None:
    for name, factor in names:
        value = configs[name].value if name in configs else None
        if value is not None and value.lstrip("-").isdecimal():
            return value if int(value) < 0 else str(int(value) * factor)
    return None


def entries(configs: "Mapping[str, ConfigEntry]") -> list[dict[str, object]]:
    """All settings by name; those that are set here come first."""
    rows = [_entry(each) for each in configs.values()]
    return sorted(rows, key=lambda row: (not row["is_set"], str(row["name"])))


def _entry(entry: "ConfigEntry") -> dict[str, object]:
    is_set = entry.source in _OWN
    others = [each for each in entry.synonyms if each.source not in _OWN]
    return {
        "name": entry.name,
        "value": entry.value,
        "source": entry.source.name.lower().replace("_", " "),
        "is_set": is_set,
        "is_read_only": entry.is_read_only,
        "is_sensitive": entry.is_sensitive,
        "default": others[0].value if others else (None if is_set else entry.value),
        "documentation": entry.documentation,
    }
