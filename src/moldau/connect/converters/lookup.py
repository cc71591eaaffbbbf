"""Converters by their names: Java's classes, or the last part of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from moldau.connect.config.values import below
from moldau.connect.converters.converter import Converter
from moldau.connect.converters.headers import SimpleHeaderConverter
from moldau.connect.converters.json_converter import JsonConverter
from moldau.connect.converters.plain import (
    NUMBERS,
    ByteArrayConverter,
    NumberConverter,
    StringConverter,
)
from moldau.connect.errors import ConfigError

Make = Callable[[Mapping[str, str], bool], Converter]

KEY, VALUE, HEADER = "key.converter", "value.converter", "header.converter"
_CONVERTERS = "org.apache.kafka.connect.converters."
_AVRO = "io.confluent.connect.avro.AvroConverter"
_JSON_SCHEMA = "io.confluent.connect.json.JsonSchemaConverter"
_PROTOBUF = "io.confluent.connect.protobuf.ProtobufConverter"
SIMPLE_HEADER = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
JSON = "org.apache.kafka.connect.json.JsonConverter"
_DEFAULTS = {KEY: JSON, VALUE: JSON, HEADER: SIMPLE_HEADER}


def _number(name: str) -> Make:
    parts = NUMBERS[name]
    return lambda _settings, _is_key: NumberConverter(*parts)


def _avro(settings: Mapping[str, str], is_key: bool) -> Converter:
    from moldau.connect.converters.avro import AvroConverter  # noqa: PLC0415 - needs an extra

    return AvroConverter(settings, is_key=is_key)


def _json_schema(settings: Mapping[str, str], is_key: bool) -> Converter:
    from moldau.connect.converters.json_schema import JsonSchemaConverter  # noqa: PLC0415

    return JsonSchemaConverter(settings, is_key=is_key)


def _protobuf(settings: Mapping[str, str], is_key: bool) -> Converter:
    from moldau.connect.converters.protobuf import ProtobufConverter  # noqa: PLC0415 - as above

    return ProtobufConverter(settings, is_key=is_key)


CONVERTERS: dict[str, Make] = {
    f"{_CONVERTERS}BooleanConverter": _number("BooleanConverter"),
    f"{_CONVERTERS}ByteArrayConverter": lambda of, key: ByteArrayConverter(of, is_key=key),
    f"{_CONVERTERS}DoubleConverter": _number("DoubleConverter"),
    f"{_CONVERTERS}FloatConverter": _number("FloatConverter"),
    f"{_CONVERTERS}IntegerConverter": _number("IntegerConverter"),
    f"{_CONVERTERS}LongConverter": _number("LongConverter"),
    f"{_CONVERTERS}ShortConverter": _number("ShortConverter"),
    JSON: lambda of, key: JsonConverter(of, is_key=key),
    "org.apache.kafka.connect.storage.StringConverter": lambda of, key: StringConverter(
        of, is_key=key
    ),
    _AVRO: _avro,
    _JSON_SCHEMA: _json_schema,
    _PROTOBUF: _protobuf,
}
HEADER_CONVERTERS: dict[str, Make] = {
    **{name: make for name, make in CONVERTERS.items() if name.startswith("org.")},
    SIMPLE_HEADER: lambda of, key: SimpleHeaderConverter(of, is_key=key),
}


def class_of(name: str, known: Mapping[str, object]) -> str | None:
    """The full name of a class of which the full name or the last part is given."""
    if name in known:
        return name
    for each in known:
        short = each.rpartition(".")[2]
        if name in (short, short.removesuffix("Converter")):
            return each
    return None


@dataclass(frozen=True, slots=True)
class Converters:
    """The three converters of a connector."""

    key: Converter
    value: Converter
    header: Converter


def converters_of(worker: Mapping[str, str], connector: Mapping[str, str]) -> Converters:
    """A connector's own, or the worker's; one that names its own inherits no settings for it."""
    return Converters(
        _made(KEY, worker, connector),
        _made(VALUE, worker, connector),
        _made(HEADER, worker, connector),
    )


def class_name_of(role: str, worker: Mapping[str, str], connector: Mapping[str, str]) -> str:
    """The full name of a converter's class; ConfigError if there is none of its name."""
    name = (connector if role in connector else worker).get(role, _DEFAULTS[role])
    found = class_of(name, HEADER_CONVERTERS if role == HEADER else CONVERTERS)
    if found is None:
        raise ConfigError(
            f"Invalid value {name} for configuration {role}: Class {name} could not be found."
        )
    return found


def _made(role: str, worker: Mapping[str, str], connector: Mapping[str, str]) -> Converter:
    holder = connector if role in connector else worker
    known = HEADER_CONVERTERS if role == HEADER else CONVERTERS
    found = class_name_of(role, worker, connector)
    try:
        return known[found](below(holder, f"{role}."), role == KEY)
    except ImportError as error:
        raise ConfigError(f"{role}: {found}: {error}: pip install 'moldau[schemas]'") from error
