"""Levels of compatibility and modes, of all subjects and of each."""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.registry.failures import (
    RegistryRefused,
    no_config,
    no_mode,
    not_permitted,
    subject_not_found,
)
from moldau.registry.levels import CompatibilityLevel
from moldau.registry.records import ConfigRecord, ModeRecord
from moldau.registry.subjects import Subjects

_LEVEL, _NORMALIZE = "compatibilityLevel", "normalize"
_ASKED_LEVEL = "compatibility"
MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT")
_CLOSED = ("READONLY", "READONLY_OVERRIDE")
_LEVELS = ", ".join(each.value.lower() for each in CompatibilityLevel)


@dataclass(slots=True)
class Settings:
    """What holds for a subject, by its own settings or by those of all."""

    subjects: Subjects
    default_level: CompatibilityLevel = CompatibilityLevel.BACKWARD

    def level(self, subject: str | None) -> CompatibilityLevel:
        """What a new version of a subject has to be able to do."""
        for about in (subject, None):
            found = self.subjects.configs.get(about, {}).get(_LEVEL)
            if isinstance(found, str) and found in CompatibilityLevel.__members__:
                return CompatibilityLevel[found]
        return self.default_level

    def normalizes(self, subject: str) -> bool:
        """Whether schemas of a subject are normalized without being asked."""
        for about in (subject, None):
            found = self.subjects.configs.get(about, {}).get(_NORMALIZE)
            if isinstance(found, bool):
                return found
        return False

    def check_writable(self, subject: str | None) -> str:
        """The mode of a subject; refused if it does not allow writing."""
        mode = self.subjects.modes.get(None)
        if mode != "READONLY_OVERRIDE":
            mode = self.subjects.mode_of(subject)
        if mode in _CLOSED:
            named = "The registry" if subject is None else f"Subject {subject}"
            raise not_permitted(f"{named} is in read-only mode")
        return mode or MODES[0]

    # Configuration

    def config(self, subject: str | None, *, default_to_global: bool) -> dict[str, object]:
        """As clients get it."""
        own = self.subjects.configs.get(subject)
        if own is None and subject is not None and not default_to_global:
            raise no_config(subject)
        found: dict[str, object] = dict(own or {})
        found.setdefault(_LEVEL, self.level(subject).value)
        return found

    def set_config(self, subject: str | None, asked: Mapping[str, object]) -> ConfigRecord:
        """The record of a change; what is not said stays as it is."""
        level, normalize = asked.get(_ASKED_LEVEL), asked.get(_NORMALIZE)
        unknown = sorted(set(asked) - {_ASKED_LEVEL, _NORMALIZE})
        if unknown:
            raise RegistryRefused(422, f"{', '.join(unknown)}: there is no such setting here")
        changed: dict[str, object] = {}
        if normalize is not None:
            if not isinstance(normalize, bool):
                raise RegistryRefused(422, "normalize is true or false")
            changed[_NORMALIZE] = normalize
        if level is not None or normalize is None:
            known = level.upper() if isinstance(level, str) else ""
            if known not in CompatibilityLevel.__members__:
                message = f"Invalid compatibility level. Valid values are {_LEVELS}"
                raise RegistryRefused(42203, message)
            changed[_LEVEL] = known
        self.check_writable(subject)
        return ConfigRecord(subject, {**self.subjects.configs.get(subject, {}), **changed})

    def delete_config(self, subject: str | None) -> tuple[dict[str, object], ConfigRecord]:
        """What it was, and the record that takes it away."""
        if subject is not None and subject not in self.subjects.configs:
            raise subject_not_found(subject)
        self.check_writable(subject)
        was = self.config(subject, default_to_global=True)
        return was, ConfigRecord(subject, None)

    # Modes

    def mode(self, subject: str | None, *, default_to_global: bool) -> str:
        """As clients get it."""
        own = self.subjects.modes.get(subject)
        if own is None and subject is not None and not default_to_global:
            raise no_mode(subject)
        return self.subjects.mode_of(subject)

    def set_mode(self, subject: str | None, mode: object, *, force: bool) -> ModeRecord:
        """The record of a change. To import ids, there must be none as yet."""
        wanted = mode.upper() if isinstance(mode, str) else ""
        if wanted not in MODES:
            valid = ", ".join(each.lower() for each in MODES)
            raise RegistryRefused(42204, f"Invalid mode. Valid values are {valid}")
        names = self.subjects.versions if subject is None else (subject,)
        begins = wanted == "IMPORT" and self.subjects.mode_of(subject) != wanted
        if begins and not force and any(self.subjects.of(each) for each in names):
            raise not_permitted("Cannot import since found existing subjects")
        return ModeRecord(subject, wanted)

    def delete_mode(self, subject: str | None) -> tuple[str, ModeRecord]:
        """What it was, and the record that takes it away."""
        if subject is not None and subject not in self.subjects.modes:
            raise subject_not_found(subject)
        return self.mode(subject, default_to_global=True), ModeRecord(subject, None)
