"""Setting values as text, read and written as Kafka does."""

import re
import sys
from decimal import Decimal
from enum import IntEnum
from math import isfinite

from moldau.config.rules import Value
from moldau.errors import ErrorCode, KafkaError

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
FLOAT_MAX = sys.float_info.max
"""Limits that are never reached: how Kafka says "off" for intervals, lags and rates."""


class ConfigType(IntEnum):
    """Types of settings, numbered as DescribeConfigs sends them."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Password(str):
    """A secret: prints as [hidden], so that it reaches no log by accident."""

    __slots__ = ()

    def __repr__(self) -> str:
        return HIDDEN

    def __str__(self) -> str:
        return HIDDEN

    def __format__(self, format_spec: str) -> str:
        return format(HIDDEN, format_spec)

    def reveal(self) -> str:
        """The secret itself."""
        return "".join(self)


HIDDEN = "[hidden]"


def config_error(message: str) -> KafkaError:
    """InvalidConfig, to be raised."""
    return KafkaError(ErrorCode.INVALID_CONFIG, message)


def invalid(name: str, value: object, allowed: str) -> KafkaError:
    """InvalidConfig that says which setting has which value, and what is allowed."""
    return config_error(f"Invalid value {value} for configuration {name}: must be {allowed}")


def parse(name: str, config_type: ConfigType, text: str) -> Value:
    """The value that `text` stands for; InvalidConfig names `name` if there is none."""
    trimmed = text.strip(_JAVA_WHITESPACE)
    match config_type:
        case ConfigType.BOOLEAN:
            return _parse_boolean(name, trimmed)
        case ConfigType.INT | ConfigType.SHORT | ConfigType.LONG:
            return _parse_integer(name, config_type, trimmed)
        case ConfigType.DOUBLE:
            return _parse_double(name, trimmed)
        case ConfigType.LIST:
            return split_list(trimmed)
        case ConfigType.PASSWORD:
            return Password(trimmed)
        case ConfigType.STRING | ConfigType.CLASS:
            return trimmed


def to_text(value: Value) -> str | None:
    """The text that `parse` reads back; None for no value.

    A password comes out in clear: code that shows settings hides it.
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _double_to_text(value)
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, Password):
        return value.reveal()
    return str(value)


def _double_to_text(value: float) -> str:
    """As Java writes it: with an exponent below a thousandth, and from ten millions on."""
    if not isfinite(value) or value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    first, *others = map(str, digits)
    mantissa = f"{'-' * sign}{first}.{''.join(others) or '0'}"
    return f"{mantissa}E{exponent + len(others)}"


# Java's String.trim removes everything up to the space, and nothing above it.
_JAVA_WHITESPACE = "".join(map(chr, range(0x21)))
_INTEGER = re.compile(r"[+-]?[0-9]+")
# Each digit has one place only: a text that is not a number is found out in one pass.
_DOUBLE = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_BITS = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}


def split_list(text: str) -> tuple[str, ...]:
    """What commas separate, without the blanks around them; of nothing, nothing.

    Not by a pattern of blanks and a comma, which tries every blank of a long row anew.
    """
    return tuple(element.strip() for element in text.split(",")) if text else ()


def _parse_boolean(name: str, text: str) -> bool:
    lowered = text.lower()
    if lowered not in ("true", "false"):
        raise invalid(name, text, "true or false")
    return lowered == "true"


def _parse_integer(name: str, config_type: ConfigType, text: str) -> int:
    limit = 1 << (_BITS[config_type] - 1)
    # The length check keeps a megabyte of digits from costing seconds.
    if len(text) <= 64 and _INTEGER.fullmatch(text) and -limit <= (number := int(text)) < limit:
        return number
    raise invalid(name, text, f"a whole number between {-limit} and {limit - 1}")


def _parse_double(name: str, text: str) -> float:
    if not _DOUBLE.fullmatch(text):
        raise invalid(name, text, "a number such as 0.5")
    return float(text)
