"""How keys and values are written in bytes: what the user names, without Spark.

`STRING`, `LONG` and `INTEGER` are what Kafka's serializers of these names write. JSON, Avro and
Protobuf have a schema, and their values are structs.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moldau.client.arrow.formats import ValueFormat


@dataclass(frozen=True, slots=True)
class PlainColumnSerde:
    """One of the types that need no schema; `type` is Spark's name of it."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class JsonColumnSerde:
    """JSON texts of a type as in SQL, e.g. `user string, amount double`."""

    type: str


@dataclass(frozen=True, slots=True, eq=False)
class FormatSerde:
    """A format of `moldau.client.arrow`, which decodes whole columns in Python workers."""

    format: "ValueFormat"


@dataclass(frozen=True, slots=True)
class WindowedSerde:
    """Keys of windows, as Kafka's serializers write them: the key, then times of the window."""

    inner: "Serde"
    is_session: bool = False


Serde = PlainColumnSerde | JsonColumnSerde | FormatSerde | WindowedSerde

BYTES = PlainColumnSerde("bytes", "binary")
STRING = PlainColumnSerde("string", "string")
LONG = PlainColumnSerde("long", "bigint")
INTEGER = PlainColumnSerde("integer", "int")


def json(schema: str) -> JsonColumnSerde:
    """JSON objects with these columns, or JSON of this type: `json("user string, n bigint")`."""
    return JsonColumnSerde(schema)


def avro(schema: "str | dict[str, object]") -> FormatSerde:
    """Avro records of a schema, given as JSON or as what JSON stands for."""
    from moldau.client.arrow.avro_values import Avro  # noqa: PLC0415 - needs fastavro

    return FormatSerde(Avro(schema))


def in_format(value_format: "ValueFormat") -> FormatSerde:
    """Any format of `moldau.client.arrow`: Protobuf, or Avro with a registry."""
    return FormatSerde(value_format)


def protobuf(message: type) -> FormatSerde:
    """Messages of a generated Protobuf class."""
    from moldau.client.arrow.protobuf_values import Protobuf  # noqa: PLC0415 - needs protobuf

    return FormatSerde(Protobuf(message))
