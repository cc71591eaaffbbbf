"""How a setting is declared: a field of a class, which carries its definition.

    class NetworkConfig(Area):
        socket_request_max_bytes: int = integer(104_857_600, "Largest request.", at_least(1))

The Kafka name is the field's name with dots. Documentation, parsing, DescribeConfigs
and the checks against Apache's own table all read the definitions from here.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import (
    TYPE_CHECKING,
    ClassVar,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    dataclass_transform,
)

from moldau.config.rules import Rule, Value
from moldau.config.values import ConfigType, Password, invalid, parse, to_text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

AreaT = TypeVar("AreaT", bound="Area")
OptionalInt = TypeVar("OptionalInt", int, None)
OptionalStr = TypeVar("OptionalStr", str, None)
OptionalList = TypeVar("OptionalList", tuple[str, ...], None)


class Importance(StrEnum):
    """How likely it is that an operator has to change a setting."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class UpdateMode(StrEnum):
    """Where a broker setting can be changed while the broker runs."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting as a user knows it."""

    name: str
    attribute: str
    """The field that holds it."""
    type: ConfigType
    default: Value
    rule: Rule | None
    doc: str
    importance: Importance
    update: UpdateMode
    is_internal: bool
    """Known to the broker but neither described nor documented."""

    @property
    def is_sensitive(self) -> bool:
        return self.type is ConfigType.PASSWORD

    @property
    def default_text(self) -> str | None:
        return to_text(self.default)

    def parse(self, text: str) -> Value:
        """The value that `text` stands for; InvalidConfig if this setting does not allow it."""
        value = parse(self.name, self.type, text)
        if self.rule is not None and not self.rule.accepts(value):
            shown = value if self.is_sensitive else text.strip()
            raise invalid(self.name, shown, self.rule.allowed)
        return value


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Area:
    """Settings that belong together, frozen.

    A dataclass but for the code that one generates, which for the broker's 300 settings
    would take a third of the time that it has to start. Defaults stay in the class.
    """

    declared: ClassVar[Mapping[str, "dataclasses.Field[object]"]]
    """The declaration of every field."""

    def __init_subclass__(cls) -> None:
        declared = {
            attribute: field
            for attribute, field in vars(cls).items()
            if isinstance(field, dataclasses.Field)
        }
        for attribute, field in declared.items():
            setattr(cls, attribute, field.default)
        cls.declared = declared

    def __init__(self, **values: object) -> None:
        unknown = values.keys() - self.declared.keys()
        assert not unknown, unknown
        vars(self).update(values)

    def __setattr__(self, attribute: str, _value: object) -> None:
        raise AttributeError(f"{attribute} is frozen")

    def __repr__(self) -> str:
        changed = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({changed})"


def settings_of(area: "type[Area | DataclassInstance]") -> Mapping[str, Setting]:
    """Every setting that a class declares, by Kafka name, in its order."""
    found = _found.get(area)
    if found is None:
        found = _found[area] = _find_settings(area)
    return found


_found: dict[type, Mapping[str, Setting]] = {}


def _find_settings(area: "type[Area | DataclassInstance]") -> Mapping[str, Setting]:
    if issubclass(area, Area):
        declared = area.declared
    else:
        declared = {field.name: field for field in dataclasses.fields(area)}
    found = {}
    for attribute, field in declared.items():
        options: FieldOptions = field.metadata["options"]
        name = options.get("name", attribute.replace("_", "."))
        found[name] = Setting(
            name=name,
            attribute=attribute,
            type=field.metadata["type"],
            default=cast("Value", field.default),
            rule=field.metadata["rule"],
            doc=field.metadata["doc"],
            importance=options.get("importance", Importance.MEDIUM),
            update=options.get("update", UpdateMode.READ_ONLY),
            is_internal=options.get("is_internal", False),
        )
    return found


def read(area: "type[AreaT]", texts: Mapping[str, str]) -> "AreaT":
    """The settings of `area` that `texts` gives, the rest at their defaults."""
    values = {
        setting.attribute: setting.parse(texts[name])
        for name, setting in settings_of(area).items()
        if name in texts
    }
    return area(**values)


class FieldOptions(TypedDict, total=False):
    """What a declaration may add."""

    importance: Importance
    update: UpdateMode
    is_internal: bool
    name: str
    """Kafka's name where it is not the field's name with dots."""


def boolean(default: bool, doc: str, **options: Unpack[FieldOptions]) -> bool:
    return cast("bool", _declare(ConfigType.BOOLEAN, default, doc, None, options))


def integer(
    default: OptionalInt, doc: str, rule: Rule | None = None, **options: Unpack[FieldOptions]
) -> OptionalInt:
    """A number of 32 bits."""
    return cast("OptionalInt", _declare(ConfigType.INT, default, doc, rule, options))


def short(default: int, doc: str, rule: Rule | None = None, **options: Unpack[FieldOptions]) -> int:
    """A number of 16 bits."""
    return cast("int", _declare(ConfigType.SHORT, default, doc, rule, options))


def long(
    default: OptionalInt, doc: str, rule: Rule | None = None, **options: Unpack[FieldOptions]
) -> OptionalInt:
    """A number of 64 bits."""
    return cast("OptionalInt", _declare(ConfigType.LONG, default, doc, rule, options))


def double(
    default: float, doc: str, rule: Rule | None = None, **options: Unpack[FieldOptions]
) -> float:
    return cast("float", _declare(ConfigType.DOUBLE, default, doc, rule, options))


def string(
    default: OptionalStr, doc: str, rule: Rule | None = None, **options: Unpack[FieldOptions]
) -> OptionalStr:
    return cast("OptionalStr", _declare(ConfigType.STRING, default, doc, rule, options))


def listing(
    default: OptionalList, doc: str, rule: Rule | None = None, **options: Unpack[FieldOptions]
) -> OptionalList:
    """Strings separated by commas."""
    return cast("OptionalList", _declare(ConfigType.LIST, default, doc, rule, options))


def class_name(default: OptionalStr, doc: str, **options: Unpack[FieldOptions]) -> OptionalStr:
    """The name of a Java class in Kafka; here a name that is only compared, never loaded."""
    return cast("OptionalStr", _declare(ConfigType.CLASS, default, doc, None, options))


def password(doc: str, **options: Unpack[FieldOptions]) -> Password | None:
    return cast("Password | None", _declare(ConfigType.PASSWORD, None, doc, None, options))


def _declare(
    config_type: ConfigType, default: Value, doc: str, rule: Rule | None, options: FieldOptions
) -> object:
    metadata = {"type": config_type, "doc": doc, "rule": rule, "options": options}
    return dataclasses.field(default=default, metadata=metadata)
