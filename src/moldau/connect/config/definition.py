"""Definitions of settings, as Connect gives them to user interfaces."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

Check = Callable[[str | None], str | None]
"""Says what is wrong with a value, if something is."""


@dataclass(frozen=True, slots=True)
class PluginSetting:
    """One setting of a plugin."""

    name: str
    kind: str = "STRING"
    """BOOLEAN, STRING, INT, SHORT, LONG, DOUBLE, LIST, CLASS or PASSWORD."""
    default: str | None = None
    required: bool = False
    documentation: str = ""
    importance: str = "MEDIUM"
    group: str | None = None
    width: str = "NONE"
    display_name: str | None = None
    order: int = -1
    dependents: tuple[str, ...] = ()
    check: Check | None = None
    recommended: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """As REST answers it, names in Connect's order."""
        return {
            "name": self.name,
            "type": self.kind,
            "required": self.required,
            "default_value": self.default,
            "importance": self.importance,
            "documentation": self.documentation,
            "group": self.group,
            "width": self.width,
            "display_name": self.display_name or self.name,
            "dependents": list(self.dependents),
            "order": self.order,
        }

    def nested(self, prefix: str, group: str, order: int) -> "PluginSetting":
        """The same as a setting of a connector that uses the plugin."""
        shown = self.display_name or self.name
        return replace(
            self, name=f"{prefix}{self.name}", group=group, order=order, display_name=shown
        )


def one_of(*allowed: str) -> Check:
    """Nothing but these."""
    wanted = ", ".join(allowed)
    return lambda value: None if value in allowed else f"String must be one of: {wanted}"


def at_least(minimum: int) -> Check:
    """A number from this one on."""

    def check(value: str | None) -> str | None:
        if value is None:
            return "Value must be non-null"
        return None if int(value) >= minimum else f"Value must be at least {minimum}"

    return check


def _not_empty(value: str | None) -> str | None:
    if value is None:
        return None  # said to be missing
    if not value:
        return "String may not be empty"
    if any(ord(each) < 32 or 127 <= ord(each) < 160 for each in value):
        return "String may not contain control sequences but had the following ASCII chars"
    return None


_CHECKS: dict[str, Check] = {
    "name": _not_empty,
    "tasks.max": at_least(1),
    "config.action.reload": one_of("none", "restart"),
    "errors.tolerance": one_of("none", "all"),
}


@dataclass(slots=True)
class _Loaded:
    settings: dict[str, tuple[PluginSetting, ...]] = field(default_factory=dict)


def kafka_settings(name: str) -> tuple[PluginSetting, ...]:
    """What Apache Connect 3.9 says of one of its plugins, or of `common`, `source` and `sink`."""
    return _load().settings.get(name.removesuffix("$Key").removesuffix("$Value"), ())


@cache
def _load() -> _Loaded:
    found = json.loads(Path(__file__).with_name("definitions.json").read_text(encoding="utf-8"))
    return _Loaded({name: tuple(map(_setting, listed)) for name, listed in found.items()})


def _setting(found: Mapping[str, object]) -> PluginSetting:
    values = {name: found[name] for name in ("name", "required", "importance", "documentation")}
    values |= {name: found[name] for name in ("group", "width", "display_name", "order")}
    name = str(found["name"])
    return PluginSetting(
        kind=str(found["type"]),
        default=found["default_value"],  # type: ignore[arg-type]
        dependents=tuple(found["dependents"]),  # type: ignore[arg-type]
        check=_CHECKS.get(name),
        **values,  # type: ignore[arg-type]
    )
