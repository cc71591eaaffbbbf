"""Functions that settings name by the classes of Java's clients, or give themselves."""

from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from moldau.client.partitioner import Partitioner, RoundRobinPartitioner
from moldau.config.values import config_error, invalid
from moldau.records.rows import Deserializers

Given = TypeVar("Given")

_SERDES = "org.apache.kafka.common.serialization."
_PRODUCER = "org.apache.kafka.clients.producer."
_AS_THEY_ARE = ("ByteArray", "ByteBuffer", "Bytes")
_PLAIN = {  # as Java's classes begin, and as ours are called
    "String": "STRING",
    "Short": "SHORT",
    "Integer": "INTEGER",
    "Long": "LONG",
    "Float": "FLOAT",
    "Double": "DOUBLE",
    "Boolean": "BOOLEAN",
    "UUID": "UUID",
}
_PARTITIONERS: dict[str, Callable[[], Partitioner | None]] = {
    f"{_PRODUCER}RoundRobinPartitioner": RoundRobinPartitioner,
    f"{_PRODUCER}internals.DefaultPartitioner": lambda: None,
}
OF_PRODUCERS = ("key.serializer", "value.serializer", "partitioner.class")
OF_CONSUMERS = ("key.deserializer", "value.deserializer")
"""Settings that stand for functions, which are arguments of clients, too."""


def without(settings: Mapping[str, object] | None, names: tuple[str, ...]) -> dict[str, object]:
    """The other settings."""
    return {name: value for name, value in (settings or {}).items() if name not in names}


def serializer(
    settings: Mapping[str, object] | None, name: str, given: Given, usual: Given
) -> Given:
    """The function that settings name, or the one that is given, which is `usual` if none is."""
    named = _named(settings, name, is_given=given is not usual)
    if named is None:
        return given
    if callable(named):
        return cast(Given, named)
    kind = _kind_of(name, str(named), "Serializer")
    # Text is taken as it is without a serializer, by the fast path.
    return usual if kind in (*_AS_THEY_ARE, "String") else cast(Given, _plain(kind, "serialize"))


def deserializers(
    settings: Mapping[str, object] | None,
    key: Callable[[bytes], object] | None,
    value: Callable[[bytes], object] | None,
) -> Deserializers:
    """The functions for keys and for values that settings name, or that are given."""
    return (
        _deserializer(settings, "key.deserializer", key),
        _deserializer(settings, "value.deserializer", value),
    )


def partitioner(
    settings: Mapping[str, object] | None, given: Partitioner | None
) -> Partitioner | None:
    """The partitioner that settings name, or the one that is given."""
    named = _named(settings, "partitioner.class", is_given=given is not None)
    if named is None:
        return given
    if callable(named):
        return cast(Partitioner, named)
    if named not in _PARTITIONERS:
        allowed = f"a function, or one of {', '.join(_PARTITIONERS)}"
        raise invalid("partitioner.class", named, allowed)
    return _PARTITIONERS[str(named)]()


def _deserializer(
    settings: Mapping[str, object] | None,
    name: str,
    given: Callable[[bytes], object] | None,
) -> Callable[[bytes], object] | None:
    named = _named(settings, name, is_given=given is not None)
    if named is None:
        return given
    if callable(named):
        return cast(Callable[[bytes], object], named)
    kind = _kind_of(name, str(named), "Deserializer")
    return None if kind in _AS_THEY_ARE else _plain(kind, "deserialize")


def _named(settings: Mapping[str, object] | None, name: str, *, is_given: bool) -> object:
    """What settings say; nothing is nothing."""
    named = (settings or {}).get(name)
    if named in (None, "", "null"):
        return None
    if is_given:
        raise config_error(f"{name} is given as an argument too")
    return named


def _kind_of(name: str, class_name: str, role: str) -> str:
    kind = class_name.removeprefix(_SERDES).removesuffix(role)
    if class_name == f"{_SERDES}{kind}{role}" and kind in (*_AS_THEY_ARE, *_PLAIN):
        return kind
    if class_name.startswith("io.confluent."):
        hint = "it needs a schema: give a function of moldau.client.serdes"
        raise config_error(f"{name}={class_name}: {hint} instead")
    allowed = f"a function, or {_SERDES}{{{','.join((*_AS_THEY_ARE, *_PLAIN))}}}{role}"
    raise invalid(name, class_name, allowed)


def _plain(kind: str, direction: str) -> Callable[[bytes], object]:
    from moldau.client.serdes import plain  # noqa: PLC0415 - most clients need none

    found: Callable[[bytes], object] = getattr(getattr(plain, _PLAIN[kind]), direction)
    return found
