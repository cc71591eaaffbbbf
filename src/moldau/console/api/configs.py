"""Settings as pages show them: the value, where it is from, and what it would be otherwise."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from moldau.client.admin.configs import ConfigSource

if TYPE_CHECKING:
    from moldau.client.admin.configs import ConfigEntry

_OWN = (ConfigSource.TOPIC, ConfigSource.GROUP, ConfigSource.DYNAMIC_BROKER)


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
