"""Schemas of Connect's data: kinds, fields, names, defaults."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

DECIMAL = "org.apache.kafka.connect.data.Decimal"
DATE = "org.apache.kafka.connect.data.Date"
TIME = "org.apache.kafka.connect.data.Time"
TIMESTAMP = "org.apache.kafka.connect.data.Timestamp"
SCALE = "scale"


class Kind(Enum):
    """The types of Connect, by the names that its JSON uses."""

    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float"
    FLOAT64 = "double"
    BOOLEAN = "boolean"
    STRING = "string"
    BYTES = "bytes"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a struct."""

    name: str
    schema: "Schema"


@dataclass(frozen=True, slots=True)
class Schema:
    """What a value is; data with names of Kafka's logical types are Python's own objects.

    Decimal is `decimal.Decimal`, Date `datetime.date`, Time `datetime.time`, Timestamp an aware
    `datetime.datetime`; a struct and a map are dictionaries, an array a list.
    """

    kind: Kind
    optional: bool = False
    name: str | None = None
    version: int | None = None
    doc: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    default: object = None
    fields: tuple[Field, ...] = ()
    key: "Schema | None" = None
    """Of a map's keys."""
    value: "Schema | None" = None
    """Of a map's values, or of an array's elements."""

    def __hash__(self) -> int:
        return hash((self.kind, self.name, self.optional, tuple(each.name for each in self.fields)))

    def field(self, name: str) -> Field | None:
        """The field of that name, if there is one."""
        return next((each for each in self.fields if each.name == name), None)

    def but(self, **changed: object) -> "Schema":
        """The same with some attributes changed."""
        return replace(self, **changed)  # type: ignore[arg-type]

    @property
    def scale(self) -> int:
        """Of a Decimal: how many digits stand after the point."""
        return int(self.parameters[SCALE])


INT8 = Schema(Kind.INT8)
INT16 = Schema(Kind.INT16)
INT32 = Schema(Kind.INT32)
INT64 = Schema(Kind.INT64)
FLOAT32 = Schema(Kind.FLOAT32)
FLOAT64 = Schema(Kind.FLOAT64)
BOOLEAN = Schema(Kind.BOOLEAN)
STRING = Schema(Kind.STRING)
BYTES = Schema(Kind.BYTES)
DATE_SCHEMA = Schema(Kind.INT32, name=DATE, version=1)
TIME_SCHEMA = Schema(Kind.INT32, name=TIME, version=1)
TIMESTAMP_SCHEMA = Schema(Kind.INT64, name=TIMESTAMP, version=1)


def optional(schema: Schema) -> Schema:
    """The same, and null as well."""
    return schema.but(optional=True)


def struct(fields: Sequence[tuple[str, Schema]], **attributes: object) -> Schema:
    """A struct of these fields."""
    listed = tuple(Field(name, schema) for name, schema in fields)
    return Schema(Kind.STRUCT, fields=listed).but(**attributes)


def array(of: Schema, **attributes: object) -> Schema:
    """A list of elements."""
    return Schema(Kind.ARRAY, value=of).but(**attributes)


def map_of(key: Schema, value: Schema, **attributes: object) -> Schema:
    """A map."""
    return Schema(Kind.MAP, key=key, value=value).but(**attributes)


def decimal(scale: int, precision: int | None = None) -> Schema:
    """A Decimal; connectors that know its precision say it, as Debezium does."""
    parameters = {SCALE: str(scale)}
    if precision is not None:
        parameters["connect.decimal.precision"] = str(precision)
    return Schema(Kind.BYTES, name=DECIMAL, version=1, parameters=parameters)
