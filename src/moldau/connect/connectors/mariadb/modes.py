"""How values are written where there is a choice: the `*.handling.mode` settings."""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.connect.connectors.capture.column_mapping import (
    BINARY_MODES,
    DECIMAL_MODES,
    PLACEHOLDER,
)
from moldau.connect.connectors.capture.settings import chosen

TIME_MODES = (
    *("adaptive_time_microseconds", "connect"),
    *("isostring", "microseconds", "nanoseconds"),
)
UNSIGNED_MODES = ("long", "precise")


@dataclass(frozen=True, slots=True)
class ValueModes:
    """One choice for each kind of value."""

    time: str = "adaptive_time_microseconds"
    decimal: str = "precise"
    binary: str = "bytes"
    big_unsigned: str = "long"
    placeholder: str = PLACEHOLDER


def modes_of(config: Mapping[str, str]) -> ValueModes:
    """The choices that settings make; ConfigError for one that there is not."""
    return ValueModes(
        chosen(config, "time.precision.mode", TIME_MODES),
        chosen(config, "decimal.handling.mode", DECIMAL_MODES),
        chosen(config, "binary.handling.mode", BINARY_MODES),
        chosen(config, "bigint.unsigned.handling.mode", UNSIGNED_MODES),
        config.get("unavailable.value.placeholder", PLACEHOLDER),
    )
