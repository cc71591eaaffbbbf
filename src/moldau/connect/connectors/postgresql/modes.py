"""How values are written where there is a choice: the `*.handling.mode` settings."""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.connect.config.values import flag, number
from moldau.connect.errors import ConfigError

TIME_MODES = (
    *("adaptive", "adaptive_time_microseconds", "connect"),
    *("isostring", "microseconds", "nanoseconds"),
)
DECIMAL_MODES = ("precise", "string", "double")
BINARY_MODES = ("bytes", "base64", "base64-url-safe", "hex")
HSTORE_MODES = ("json", "map")
INTERVAL_MODES = ("numeric", "string")
PLACEHOLDER = "__debezium_unavailable_value"


@dataclass(frozen=True, slots=True)
class HandlingModes:
    """One choice for each kind of value."""

    time: str = "adaptive"
    decimal: str = "precise"
    binary: str = "bytes"
    hstore: str = "json"
    interval: str = "numeric"
    money_digits: int = 2
    has_unknown: bool = False
    """Whether columns of types that are not known here are given, as bytes of their text."""
    placeholder: str = PLACEHOLDER
    """Stands for large values that a change left as they were."""


def modes_of(config: Mapping[str, str]) -> HandlingModes:
    """The choices that settings make; ConfigError for one that there is not."""
    return HandlingModes(
        _chosen(config, "time.precision.mode", TIME_MODES),
        _chosen(config, "decimal.handling.mode", DECIMAL_MODES),
        _chosen(config, "binary.handling.mode", BINARY_MODES),
        _chosen(config, "hstore.handling.mode", HSTORE_MODES),
        _chosen(config, "interval.handling.mode", INTERVAL_MODES),
        number(config, "money.fraction.digits", 2),
        flag(config, "include.unknown.datatypes", default=False),
        config.get("unavailable.value.placeholder", PLACEHOLDER),
    )


def _chosen(config: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str:
    found = config.get(name, allowed[0]).strip().lower()
    if found not in allowed:
        raise ConfigError(f"{name}: {found} is none of {', '.join(allowed)}")
    return found
