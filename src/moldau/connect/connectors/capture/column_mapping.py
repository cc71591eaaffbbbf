"""How columns are given: schemas, and what makes values of texts, as databases share it."""

import base64
import hashlib
import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from moldau.connect.connectors.capture.temporal import Mapped, TextConversion
from moldau.connect.data.schema import BYTES, DECIMAL, STRING, Kind, Schema

_log = logging.getLogger(__name__)

TIME_MODES = (
    *("adaptive", "adaptive_time_microseconds", "connect"),
    *("isostring", "microseconds", "nanoseconds"),
)
DECIMAL_MODES = ("precise", "string", "double")
BINARY_MODES = ("bytes", "base64", "base64-url-safe", "hex")
PLACEHOLDER = "__debezium_unavailable_value"
"""Stands for large values that a change left as they were."""


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """How a column is given."""

    schema: Schema
    """Not optional as yet."""
    convert: TextConversion
    unchanged: object
    """What stands for a large value that a change left as it was; None if nothing can."""


def data_schema(name: str, kind: Kind = Kind.STRING) -> Schema:
    """One of Debezium's schemas, by the last part of its name."""
    return Schema(kind, name=f"io.debezium.data.{name}", version=1)


def bits_schema(length: int) -> Schema:
    """Of so many bits."""
    return data_schema("Bits", Kind.BYTES).but(parameters={"length": str(length)})


def enum_schema(labels: tuple[str, ...], name: str = "Enum") -> Schema:
    """Of texts that are among some."""
    return data_schema(name).but(parameters={"allowed": ",".join(labels)})


def binary_column(mode: str, raw: Callable[[str], bytes]) -> Mapped:
    """Of bytes whose text is hexadecimal, after what `raw` knows to cut off."""
    if mode == "hex":
        return STRING, lambda text: raw(text).hex()
    if mode == "bytes":
        return BYTES, raw
    encode = base64.b64encode if mode == "base64" else base64.urlsafe_b64encode
    return STRING, lambda text: encode(raw(text)).decode()


def placeholder_of(schema: Schema, text: str) -> object:
    """What stands for a value of a schema that is not known."""
    if schema.name == "io.debezium.data.Uuid":
        # As Java's UUID.nameUUIDFromBytes.
        digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
        return str(uuid.UUID(bytes=digest, version=3))
    if schema.kind is Kind.STRING:
        return text
    if schema.kind is Kind.BYTES and schema.name is None:
        return text.encode()
    return {text: text} if schema.kind is Kind.MAP else None


def default_value(mapping: ColumnMapping, text: str, expression: str) -> object:
    """What a text is as a column's default; None if it is no value of the column's type."""
    try:
        value = mapping.convert(text)
    except (ValueError, ArithmeticError):
        _log.info(
            "the default %s of a column is left out of its schema: it is no literal", expression
        )
        return None
    if mapping.schema.name == DECIMAL and isinstance(value, Decimal):
        return value.quantize(Decimal(1).scaleb(-mapping.schema.scale))
    return value
