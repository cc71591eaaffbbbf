"""The transformations of a connector, one after the other, as its settings name them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from moldau.connect.config.values import below, flag, listed, required
from moldau.connect.data.record import ConnectRecord
from moldau.connect.errors import ConfigError
from moldau.connect.transforms.cast import Cast
from moldau.connect.transforms.fields import InsertField, MaskField, ReplaceField
from moldau.connect.transforms.header_fields import DropHeaders, HeaderFrom, InsertHeader
from moldau.connect.transforms.metadata import SetSchemaMetadata
from moldau.connect.transforms.outbox import EventRouter
from moldau.connect.transforms.predicates import PREDICATES, Predicate
from moldau.connect.transforms.routes import Filter, RegexRouter
from moldau.connect.transforms.shapes import ExtractField, Flatten, HoistField, ValueToKey
from moldau.connect.transforms.side import RecordSide, Transformation
from moldau.connect.transforms.times import TimestampConverter, TimestampRouter
from moldau.connect.transforms.unwrap import ExtractNewRecordState

Make = Callable[[Mapping[str, str], RecordSide], Transformation]

_PACKAGE = "org.apache.kafka.connect.transforms."
_SIDED: dict[str, Make] = {
    "Cast": Cast,
    "ExtractField": ExtractField,
    "Flatten": Flatten,
    "HeaderFrom": HeaderFrom,
    "HoistField": HoistField,
    "InsertField": InsertField,
    "MaskField": MaskField,
    "ReplaceField": ReplaceField,
    "SetSchemaMetadata": SetSchemaMetadata,
    "TimestampConverter": TimestampConverter,
}
_WHOLE: dict[str, Make] = {
    "DropHeaders": DropHeaders,
    "Filter": Filter,
    "InsertHeader": InsertHeader,
    "RegexRouter": RegexRouter,
    "TimestampRouter": TimestampRouter,
    "ValueToKey": ValueToKey,
}
TRANSFORMATIONS: dict[str, tuple[Make, RecordSide]] = dict(
    sorted(
        {
            **{
                f"{_PACKAGE}{name}${side.title()}": (make, RecordSide(side))
                for name, make in _SIDED.items()
                for side in ("key", "value")
            },
            **{f"{_PACKAGE}{name}": (make, RecordSide("value")) for name, make in _WHOLE.items()},
            "io.debezium.transforms.ExtractNewRecordState": (
                ExtractNewRecordState,
                RecordSide("value"),
            ),
            "io.debezium.transforms.outbox.EventRouter": (EventRouter, RecordSide("value")),
        }.items()
    )
)


def transformation_class(name: str) -> str | None:
    """The full name of a transformation; the last part of it is enough."""
    return _full(name, TRANSFORMATIONS)


def predicate_class(name: str) -> str | None:
    """The full name of a predicate; the last part of it is enough."""
    return _full(name, PREDICATES)


def _full(name: str, known: Mapping[str, object]) -> str | None:
    if name in known:
        return name
    return next((each for each in known if each.rpartition(".")[2] == name), None)


@dataclass(frozen=True, slots=True)
class _Step:
    transformation: Transformation
    predicate: Predicate | None
    is_negated: bool

    def concerns(self, record: ConnectRecord) -> bool:
        return self.predicate is None or self.predicate(record) != self.is_negated


class TransformationChain:
    """All steps of a connector."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        predicates = {
            alias: _predicate(below(settings, f"predicates.{alias}."), alias)
            for alias in listed(settings, "predicates")
        }
        self._steps = [
            _step(below(settings, f"transforms.{alias}."), alias, predicates)
            for alias in listed(settings, "transforms")
        ]

    @property
    def is_empty(self) -> bool:
        """Whether every record comes out as it is."""
        return not self._steps

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        """The record that comes out, if one does."""
        found: ConnectRecord | None = record
        for step in self._steps:
            if found is not None and step.concerns(found):
                found = step.transformation.apply(found)
        return found


def _predicate(settings: Mapping[str, str], alias: str) -> Predicate:
    name = required(settings, "type")
    found = predicate_class(name)
    if found is None:
        raise ConfigError(
            f"Invalid value {name} for configuration predicates.{alias}.type: "
            f"Class {name} could not be found."
        )
    return PREDICATES[found](settings)


def _step(settings: Mapping[str, str], alias: str, predicates: Mapping[str, Predicate]) -> _Step:
    name = required(settings, "type")
    found = transformation_class(name)
    if found is None:
        raise ConfigError(
            f"Invalid value {name} for configuration transforms.{alias}.type: "
            f"Class {name} could not be found."
        )
    make, side = TRANSFORMATIONS[found]
    chosen = settings.get("predicate")
    if chosen is not None and chosen not in predicates:
        raise ConfigError(f"Predicate '{chosen}' is not defined, but used by transforms.{alias}")
    predicate = None if chosen is None else predicates[chosen]
    negated = flag(settings, "negate", default=False)
    return _Step(make(settings, side), predicate, negated)
