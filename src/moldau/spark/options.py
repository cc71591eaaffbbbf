"""The options of a source, with the names of Spark's own Kafka source."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moldau.client.settings import ConsumerSettings
from moldau.model import TopicPartition
from moldau.spark.client_settings import client_settings
from moldau.spark.offsets import COMMITTED, EARLIEST, LATEST, Offsets, parse

if TYPE_CHECKING:
    from moldau.spark.values import ValueOptions

# What Spark's own source refuses, for its reasons.
_REFUSED = {
    "auto.offset.reset": "set startingOffsets, which says where a new query begins; from then on "
    "Spark keeps the offsets, so that nothing is missed in topics and partitions that appear",
    "key.deserializer": "keys are bytes; decode them with functions of DataFrames",
    "value.deserializer": "values are bytes; decode them with functions of DataFrames, or set "
    "valueFormat",
    "enable.auto.commit": "Spark keeps the offsets; commitGroup commits them to a group",
    "interceptor.classes": "interceptors could change what is read",
}
_STRATEGY = "startingOffsetsByTimestampStrategy"
_NAMED = {"earliest": EARLIEST, "latest": LATEST, "committed": COMMITTED}
TRIGGER_DELAY_MAX_MS = 15 * 60_000
_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")


@dataclass(frozen=True, slots=True)
class TopicSelection:
    """Which partitions are read: of named topics, of those with fitting names, or given ones."""

    names: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: tuple[TopicPartition, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound:
    """Where to begin or to end: EARLIEST, LATEST or COMMITTED where nothing else is said.

    Offsets and timestamps, in milliseconds, are for single partitions; `timestamp` is for all.
    """

    otherwise: int
    offsets: tuple[tuple[TopicPartition, int], ...] = ()
    timestamps: tuple[tuple[TopicPartition, int], ...] = ()
    timestamp: int | None = None
    is_strict: bool = False
    """Whether there must be a record at these times or after them."""


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Everything that the options of a source say."""

    topics: TopicSelection
    client: tuple[tuple[str, str], ...]
    starting: Bound
    ending: Bound
    columns: tuple[str, ...]
    fails_on_data_loss: bool = True
    partitions_min: int | None = None
    partitions_max: int | None = None
    """How many tasks there may be; they share the partitions of topics."""
    offsets_per_trigger_max: int | None = None
    offsets_per_trigger_min: int | None = None
    trigger_delay_max_ms: int = TRIGGER_DELAY_MAX_MS
    group: str | None = None
    """The consumer group that the query commits its progress to."""
    value: "ValueOptions | None" = None
    """How values are decoded; None leaves them bytes."""
    takes_filters: bool = False
    """Whether filters of a batch narrow what is fetched."""

    @classmethod
    def read(cls, options: Mapping[str, str], *, is_stream: bool) -> "SourceOptions":
        """Read the options, whose names are compared without regard to case."""
        given = {name.lower(): value for name, value in options.items()}
        least, most = (_positive(given, f"{end}OffsetsPerTrigger") for end in ("min", "max"))
        if least is not None and most is not None and least > most:
            raise ValueError(f"minOffsetsPerTrigger {least} is above maxOffsetsPerTrigger {most}")
        fewest, greatest = (_positive(given, f"{end}Partitions") for end in ("min", "max"))
        if fewest is not None and greatest is not None and fewest > greatest:
            raise ValueError(f"minPartitions {fewest} is above maxPartitions {greatest}")
        return cls(
            topics=_topics(given),
            client=client_settings(ConsumerSettings, given, _REFUSED),
            starting=_bound(given, "starting", LATEST if is_stream else EARLIEST),
            ending=_bound(given, "ending", LATEST),
            columns=_columns(given),
            fails_on_data_loss=_boolean(given, "failOnDataLoss", default=True),
            partitions_min=fewest,
            partitions_max=greatest,
            offsets_per_trigger_max=most,
            offsets_per_trigger_min=least,
            trigger_delay_max_ms=_duration(given, "maxTriggerDelay", TRIGGER_DELAY_MAX_MS),
            group=given.get("commitgroup"),
            value=_value(given),
            takes_filters=_boolean(given, "pushDownFilters", default=False),
        )


def _topics(given: Mapping[str, str]) -> TopicSelection:
    ways = [way for way in ("subscribe", "subscribePattern", "assign") if way.lower() in given]
    if len(ways) != 1:
        raise ValueError("exactly one of subscribe, subscribePattern and assign is needed")
    (way,) = ways
    text = given[way.lower()]
    if way == "subscribe":
        names = tuple(name.strip() for name in text.split(",") if name.strip())
        if not names:
            raise ValueError("subscribe names no topic")
        return TopicSelection(names=names)
    if way == "subscribePattern":
        try:
            re.compile(text)
        except re.error as error:
            raise ValueError(f"subscribePattern: {text!r}: {error}") from error
        return TopicSelection(pattern=text)
    try:
        assigned = [
            TopicPartition(topic, int(number))
            for topic, numbers in json.loads(text).items()
            for number in numbers
        ]
    except (ValueError, AttributeError, TypeError) as error:
        example = '{"orders":[0,1]}'
        raise ValueError(f"assign: {text!r} is not like {example}") from error
    return TopicSelection(partitions=tuple(sorted(assigned)))


def _bound(given: Mapping[str, str], end: str, otherwise: int) -> Bound:
    """`startingOffsets` and its kin; a timestamp for all goes before timestamps before offsets."""
    is_strict = _is_strict(given) and end == "starting"
    name = f"{end}Timestamp"
    if name.lower() in given:
        timestamp = _time(name, _whole(name, given[name.lower()]))
        return Bound(otherwise, timestamp=timestamp, is_strict=is_strict)
    name = f"{end}OffsetsByTimestamp"
    if name.lower() in given:
        timestamps = _sorted(parse(name, given[name.lower()]))
        for _, timestamp in timestamps:
            _time(name, timestamp)
        return Bound(otherwise, timestamps=timestamps, is_strict=is_strict)
    name = f"{end}Offsets"
    text = given.get(name.lower())
    if text is None:
        return Bound(otherwise)
    named = _NAMED.get(text.strip().lower())
    if named is None:
        return Bound(otherwise, offsets=_sorted(parse(name, text)))
    if end == "ending" and named != LATEST:
        raise ValueError(f"endingOffsets cannot be {text}")
    if named == COMMITTED and "commitgroup" not in given:
        raise ValueError("startingOffsets=committed needs commitGroup, the group to go on from")
    return Bound(named)


def _is_strict(given: Mapping[str, str]) -> bool:
    """Whether to fail where no record is as late as a query is to begin."""
    text = given.get(_STRATEGY.lower(), "error").strip().lower()
    if text not in ("error", "latest"):
        raise ValueError(f"{_STRATEGY}: {text!r} is neither error nor latest")
    return text == "error"


def _time(name: str, timestamp: int) -> int:
    # Brokers take what is below 0 for something else: -1 for the end, -2 for the beginning.
    if timestamp < 0:
        raise ValueError(f"{name}: {timestamp} is before 1970")
    return timestamp


def _sorted(offsets: Offsets) -> tuple[tuple[TopicPartition, int], ...]:
    return tuple(sorted(offsets.items()))


def _value(given: Mapping[str, str]) -> "ValueOptions | None":
    if "valueformat" not in given:
        return None
    from moldau.spark.values import ValueOptions  # noqa: PLC0415 - needs pyarrow

    return ValueOptions.read(given)


def _columns(given: Mapping[str, str]) -> tuple[str, ...]:
    if "columns" not in given:
        has_headers = _boolean(given, "includeHeaders", default=False)
        return COLUMNS if has_headers else COLUMNS[:-1]
    columns = tuple(name.strip() for name in given["columns"].split(","))
    for name in columns:
        if name not in COLUMNS:
            raise ValueError(f"columns: {name!r} is none of {', '.join(COLUMNS)}")
    return columns


def _boolean(given: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = given.get(name.lower(), str(default)).strip().lower()
    if text not in ("true", "false"):
        raise ValueError(f"{name}: {text!r} is neither true nor false")
    return text == "true"


def _positive(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name.lower())
    if text is None:
        return None
    number = _whole(name, text)
    if number < 1:
        raise ValueError(f"{name}: {number} is not above 0")
    return number


def _duration(given: Mapping[str, str], name: str, default: int) -> int:
    """Milliseconds, of `15m` or `90s`; a number alone is in milliseconds."""
    text = given.get(name.lower())
    if text is None:
        return default
    match = re.fullmatch(r"(\d+)\s*([a-z]*)", text.strip().lower())
    if match is None or (match[2] and match[2] not in _UNITS_MS):
        raise ValueError(f"{name}: {text!r} is no duration like 15m, 90s or 500ms")
    return int(match[1]) * _UNITS_MS.get(match[2], 1)


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise ValueError(f"{name}: {text!r} is not a whole number") from error
