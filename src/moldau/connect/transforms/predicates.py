"""Predicates: which records a transformation applies to."""

from collections.abc import Callable, Mapping

from moldau.connect.config.values import required
from moldau.connect.data.record import ConnectRecord
from moldau.connect.transforms.routes import java_pattern

Predicate = Callable[[ConnectRecord], bool]


def topic_name_matches(settings: Mapping[str, str]) -> Predicate:
    """`pattern` matches the whole name of the topic."""
    pattern = java_pattern(required(settings, "pattern"))
    return lambda record: pattern.fullmatch(record.topic) is not None


def has_header_key(settings: Mapping[str, str]) -> Predicate:
    """There is a header with this `name`."""
    name = required(settings, "name")
    return lambda record: any(header == name for header, _ in record.headers)


def record_is_tombstone(settings: Mapping[str, str]) -> Predicate:
    """The value is null."""
    del settings
    return lambda record: record.value.value is None


_PACKAGE = "org.apache.kafka.connect.transforms.predicates."
PREDICATES: dict[str, Callable[[Mapping[str, str]], Predicate]] = {
    f"{_PACKAGE}HasHeaderKey": has_header_key,
    f"{_PACKAGE}RecordIsTombstone": record_is_tombstone,
    f"{_PACKAGE}TopicNameMatches": topic_name_matches,
}
