"""Checks settings of a connector with Connect's texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from moldau.connect.config.definition import PluginSetting, kafka_settings
from moldau.connect.config.values import listed
from moldau.connect.errors import ConfigError
from moldau.connect.transforms.chain import (
    TRANSFORMATIONS,
    TransformationChain,
    predicate_class,
    transformation_class,
)
from moldau.connect.transforms.predicates import PREDICATES

_INTEGERS = {"INT": 31, "SHORT": 15, "LONG": 63}
_BOTH_TOPICS = "topics and topics.regex are mutually exclusive options, but both are set."
_NO_TOPICS = "Must configure one of topics or topics.regex"
_ALSO = (
    "You can also find the above list of errors at the endpoint "
    "`/connector-plugins/{connectorType}/config/validate`"
)
SOURCE, SINK = "source", "sink"


@dataclass(slots=True)
class CheckedSetting:
    """A setting, its value and what is wrong with it."""

    setting: PluginSetting
    value: str | None
    errors: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """As REST answers it."""
        return {
            "definition": self.setting.as_json(),
            "value": {
                "name": self.setting.name,
                "value": self.value,
                "recommended_values": list(self.setting.recommended),
                "errors": self.errors,
                "visible": True,
            },
        }


@dataclass(slots=True)
class Validation:
    """What was found out about a connector's settings."""

    name: str
    checked: list[CheckedSetting]

    @property
    def errors(self) -> list[str]:
        """Everything that is wrong."""
        return [error for each in self.checked for error in each.errors]

    def as_json(self) -> dict[str, object]:
        """As REST answers it."""
        groups: dict[str, None] = {}
        for each in self.checked:
            if each.setting.group is not None:
                groups[each.setting.group] = None
        return {
            "name": self.name,
            "error_count": len(self.errors),
            "groups": list(groups),
            "configs": [each.as_json() for each in self.checked],
        }

    def message(self) -> str:
        """All errors in one text, as POST and PUT answer them."""
        count = len(self.errors)
        first = f"Connector configuration is invalid and contains the following {count} error(s):"
        return "\n".join([first, *self.errors, _ALSO])

    def add(self, name: str, error: str) -> None:
        """Say that something is wrong with a setting."""
        for each in self.checked:
            if each.setting.name == name:
                each.errors.append(error)
                return
        self.checked.append(CheckedSetting(PluginSetting(name), None, [error]))


def settings_for(kind: str, own: Sequence[PluginSetting]) -> list[PluginSetting]:
    """All settings of a connector, without those of its transformations."""
    return [*kafka_settings("common"), *kafka_settings(kind), *own]


def validate(
    name: str, kind: str, own: Sequence[PluginSetting], config: Mapping[str, str]
) -> Validation:
    """Check everything that can be checked without the connector."""
    shared = [*kafka_settings("common"), *kafka_settings(kind)]
    chained = [*_steps("transforms", config), *_steps("predicates", config)]
    found = Validation(name, [_checked(each, config) for each in (*shared, *chained, *own)])
    if kind == SINK:
        _check_topics(found, config)
    if not found.errors:
        try:
            TransformationChain(config)
        except ConfigError as error:
            found.add("transforms", str(error))
    return found


def _check_topics(found: Validation, config: Mapping[str, str]) -> None:
    has_topics, has_pattern = bool(listed(config, "topics")), bool(config.get("topics.regex"))
    problem = None
    if has_topics and has_pattern:
        problem = _BOTH_TOPICS
    elif not has_topics and not has_pattern:
        problem = _NO_TOPICS
    dead = config.get("errors.deadletterqueue.topic.name")
    if problem is not None:
        found.add("topics", problem)
        found.add("topics.regex", problem)
    elif dead and dead in listed(config, "topics"):
        found.add(
            "topics",
            f"The DLQ topic '{dead}' may not be included in the list of topics "
            f"('topics=[{', '.join(listed(config, 'topics'))}]') consumed by the connector",
        )


def _steps(role: str, config: Mapping[str, str]) -> list[PluginSetting]:
    """The settings of transformations or predicates, under their aliases."""
    is_transform = role == "transforms"
    word = "transformation" if is_transform else "predicate"
    known = TRANSFORMATIONS if is_transform else PREDICATES
    recommended = tuple(each for each in known if each.startswith("org.apache."))
    found: list[PluginSetting] = []
    for alias in listed(config, role):
        prefix = f"{role}.{alias}."
        group = f"{role.title()}: {alias}"
        given = config.get(f"{prefix}type")
        full = None
        if given is not None:
            full = transformation_class(given) if is_transform else predicate_class(given)
        found.append(
            PluginSetting(
                f"{prefix}type",
                "CLASS",
                None,
                True,
                f"Class for the '{alias}' {word}.",
                "HIGH",
                group,
                "LONG",
                f"{word.title()} type for {alias}",
                0,
                check=_known_class(full),
                recommended=recommended,
            )
        )
        if full is not None:
            own = [*kafka_settings(full), *(_CONDITION if is_transform else ())]
            ordered = sorted(own, key=lambda each: each.name)
            found += [each.nested(prefix, group, at) for at, each in enumerate(ordered, 1)]
    return found


_CONDITION = (
    PluginSetting(
        "predicate",
        documentation="The alias of a predicate used to determine whether to apply this "
        "transformation.",
    ),
    PluginSetting(
        "negate",
        "BOOLEAN",
        "false",
        documentation="Whether the configured predicate should be negated.",
    ),
)


def _known_class(full: str | None) -> "_ClassCheck":
    return _ClassCheck(full is not None)


@dataclass(frozen=True, slots=True)
class _ClassCheck:
    is_known: bool

    def __call__(self, value: str | None) -> str | None:
        if value is None or self.is_known:
            return None
        return f"Class {value} could not be found."


def _checked(setting: PluginSetting, config: Mapping[str, str]) -> CheckedSetting:
    given = config.get(setting.name, setting.default)
    found = CheckedSetting(setting, given)
    if given is None and setting.required:
        found.errors.append(
            f'Missing required configuration "{setting.name}" which has no default value.'
        )
        return found
    problem = None if given is None else _problem(setting.kind, given.strip())
    if problem is not None:
        found.errors.append(f"Invalid value {given} for configuration {setting.name}: {problem}")
        found.value = None
    if found.value is not None:
        found.value = found.value.strip()
    problem = None if setting.check is None else setting.check(found.value)
    if problem is not None:
        shown = "null" if found.value is None else found.value
        found.errors.append(f"Invalid value {shown} for configuration {setting.name}: {problem}")
    return found


def _problem(kind: str, text: str) -> str | None:
    if kind == "BOOLEAN" and text.lower() not in ("true", "false"):
        return "Expected value to be either true or false"
    try:
        if kind in _INTEGERS and not -(2 ** _INTEGERS[kind]) <= int(text) < 2 ** _INTEGERS[kind]:
            return f"Not a number of type {kind}"
        if kind == "DOUBLE":
            float(text)
    except ValueError:
        return f"Not a number of type {kind}"
    return None
