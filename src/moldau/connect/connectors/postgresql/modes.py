"""How values are written where there is a choice: the `*.handling.mode` settings."""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.connect.config.values import flag, number
from moldau.connect.connectors.capture.column_mapping import (
    BINARY_MODES,
    DECIMAL_MODES,
    PLACEHOLDER,
    TIME_MODES,
)
from moldau.connect.connectors.capture.settings import chosen

HSTORE_MODES = ("json", "map")
INTERVAL_MODES = ("numeric", "string")


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
        chosen(config, "time.precision.mode", TIME_MODES),
        chosen(config, "decimal.handling.mode", DECIMAL_MODES),
        chosen(config, "binary.handling.mode", BINARY_MODES),
        chosen(config, "hstore.handling.mode", HSTORE_MODES),
        chosen(config, "interval.handling.mode", INTERVAL_MODES),
        number(config, "money.fraction.digits", 2),
        flag(config, "include.unknown.datatypes", default=False),
        config.get("unavailable.value.placeholder", PLACEHOLDER),
    )
