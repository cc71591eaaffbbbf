"""Everything that the topic says, as it can be looked up: subjects, versions, ids, settings.

The records of the topic are the only way in: `apply` takes them in their order, no matter who wrote
them. What does not fit what came before, as a second schema with an id that is taken, is left
out and said.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from moldau.registry.records import (
    ConfigRecord,
    ModeRecord,
    NoopRecord,
    RegistryRecord,
    Rubbish,
    SchemaRecord,
    SchemaReference,
    StoredSchema,
    SubjectClearing,
    SubjectDeletion,
)

Kept = TypeVar("Kept")
Place = tuple[str, int]
"""A subject and a version."""


@dataclass(slots=True)
class Subjects:
    """The state of a registry, rebuilt from its topic."""

    versions: dict[str, dict[int, StoredSchema]] = field(default_factory=dict)
    places: dict[int, dict[Place, None]] = field(default_factory=dict)
    """Where a schema is, by its id."""
    configs: dict[str | None, Mapping[str, object]] = field(default_factory=dict)
    modes: dict[str | None, str] = field(default_factory=dict)
    highest_id: int = 0
    _ids: dict[bytes, int] = field(default_factory=dict)
    _referrers: dict[Place, dict[Place, None]] = field(default_factory=dict)

    # What changes it

    def apply(self, record: RegistryRecord) -> None:
        """Take in a record; Rubbish if it contradicts those before it, and then nothing changes."""
        match record:
            case SchemaRecord(subject, version, None):
                self._forget((subject, version))
            case SchemaRecord(_, _, StoredSchema() as schema):
                self._keep(schema)
            case SubjectDeletion(subject, int(last)):
                for version, schema in sorted(self.versions.get(subject, {}).items()):
                    if version <= last and not schema.is_deleted:
                        self._keep(replace(schema, is_deleted=True))
            case SubjectClearing(subject):
                for schema in list(self.versions.get(subject, {}).values()):
                    if schema.is_deleted:
                        self._forget((subject, schema.version))
            case ConfigRecord(about, settings):
                _set(self.configs, about, settings)
            case ModeRecord(about, mode):
                _set(self.modes, about, mode)
            case NoopRecord(highest_id):
                self.highest_id = max(self.highest_id, highest_id)

    def _keep(self, schema: StoredSchema) -> None:
        place = schema.subject, schema.version
        mark = _mark_of(schema)
        first = self.by_id(schema.schema_id)
        if first is not None and mark == _mark_of(first):
            schema = replace(schema, text=first.text)  # kept once, however often it is used
        elif any(each != place for each in self.places.get(schema.schema_id, ())):
            raise Rubbish(f"id {schema.schema_id} belongs to another schema already")
        self._forget(place)
        self.versions.setdefault(schema.subject, {})[schema.version] = schema
        self.places.setdefault(schema.schema_id, {})[place] = None
        self.highest_id = max(self.highest_id, schema.schema_id)
        self._ids[mark] = schema.schema_id
        for each in schema.references:
            self._referrers.setdefault((each.subject, each.version), {})[place] = None

    def _forget(self, place: Place) -> None:
        subject, version = place
        schema = self.versions.get(subject, {}).pop(version, None)
        if schema is None:
            return
        if not self.versions[subject]:
            del self.versions[subject]
        holders = self.places[schema.schema_id]
        del holders[place]
        if not holders:
            del self.places[schema.schema_id]
            self._ids.pop(_mark_of(schema), None)
        for each in schema.references:
            referrers = self._referrers.get((each.subject, each.version), {})
            referrers.pop(place, None)
            if not referrers:
                self._referrers.pop((each.subject, each.version), None)

    # What is asked

    def names(self, *, deleted: bool = False, deleted_only: bool = False) -> list[str]:
        """The subjects that have versions of that kind, sorted."""
        found = (
            name
            for name, versions in self.versions.items()
            if any(_counts(each, deleted, deleted_only) for each in versions.values())
        )
        return sorted(found)

    def of(
        self, subject: str, *, deleted: bool = False, deleted_only: bool = False
    ) -> list[StoredSchema]:
        """The versions of a subject in their order."""
        versions = self.versions.get(subject, {})
        found = (versions[number] for number in sorted(versions))
        return [each for each in found if _counts(each, deleted, deleted_only)]

    def by_id(self, schema_id: int) -> StoredSchema | None:
        """A schema with this id; deleted ones too, since values that have it are still there."""
        for subject, version in self.places.get(schema_id, ()):
            return self.versions[subject][version]
        return None

    def at(self, reference: SchemaReference) -> StoredSchema | None:
        """What a reference means; deleted versions are found as well."""
        return self.versions.get(reference.subject, {}).get(reference.version)

    def id_of(self, kind: str, text: str, references: Iterable[SchemaReference] = ()) -> int | None:
        """The id of a canonical text, whichever subject has it."""
        return self._ids.get(fingerprint(kind, text, tuple(references)))

    def referrers(self, place: Place) -> list[StoredSchema]:
        """Versions that refer to this one."""
        found = self._referrers.get(place, ())
        return [self.versions[subject][version] for subject, version in sorted(found)]

    def mode_of(self, subject: str | None) -> str:
        """What may be done with a subject."""
        return self.modes.get(subject) or self.modes.get(None) or "READWRITE"


def fingerprint(kind: str, text: str, references: tuple[SchemaReference, ...]) -> bytes:
    """The same for the same schema, and for no other."""
    listed = [each.as_json() for each in references]
    mark = hashlib.blake2b(f"{kind}\0{json.dumps(listed)}\0".encode(), digest_size=16)
    mark.update(text.encode("utf-8", "surrogatepass"))
    return mark.digest()


def _mark_of(schema: StoredSchema) -> bytes:
    return fingerprint(schema.kind, schema.text, schema.references)


def _counts(schema: StoredSchema, deleted: bool, deleted_only: bool) -> bool:
    return schema.is_deleted if deleted_only else deleted or not schema.is_deleted


def _set(settings: dict[str | None, Kept], about: str | None, value: Kept | None) -> None:
    if value is None:
        settings.pop(about, None)
    else:
        settings[about] = value
