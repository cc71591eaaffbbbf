"""What becomes of a request: the records that it needs, and the answer if they are stored.

Nothing changes here. The service writes the records, and takes them in when they are stored;
between a decision and that no other is made.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from moldau.registry.failures import (
    InvalidSchema,
    RegistryRefused,
    invalid_version,
    not_permitted,
    schema_not_found,
    subject_not_found,
    subject_not_soft_deleted,
    subject_soft_deleted,
    version_not_found,
    version_not_soft_deleted,
    version_soft_deleted,
)
from moldau.registry.levels import CompatibilityLevel, Difference, incompatibilities
from moldau.registry.records import (
    ConfigRecord,
    ModeRecord,
    NoopRecord,
    RegistryRecord,
    SchemaRecord,
    StoredSchema,
    SubjectDeletion,
)
from moldau.registry.resolution import NewSchema, Resolution
from moldau.registry.schemas.parsed import ParsedSchema, differences
from moldau.registry.settings import Settings
from moldau.registry.subjects import Subjects

LATEST = "latest"
_VERSION_MAX = 2**31 - 1

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Decided(Generic[Answer]):
    """An answer that holds once the records are stored."""

    answer: Answer
    records: list[RegistryRecord] = field(default_factory=list)


AnySchema = ParsedSchema | StoredSchema
Decide = Callable[[], Decided[Answer]]


@dataclass(slots=True)
class Decisions:
    """Decides on what clients ask of subjects."""

    subjects: Subjects
    resolution: Resolution
    settings: Settings

    # Looking up

    def version(self, subject: str, version: str, *, deleted: bool = False) -> StoredSchema:
        """A version by its number, or the newest."""
        number = version_number(version)
        listed = self.subjects.of(subject, deleted=deleted)
        if not listed:
            raise subject_not_found(subject)
        if number is None:
            return listed[-1]
        for each in listed:
            if each.version == number:
                return each
        raise version_not_found(number)

    def by_id(self, schema_id: int) -> StoredSchema:
        """A schema by its id."""
        found = self.subjects.by_id(schema_id)
        if found is None:
            raise schema_not_found(schema_id)
        return found

    def look_up(
        self, subject: str, new: NewSchema, *, normalize: bool = False, deleted: bool = False
    ) -> StoredSchema:
        """The version of a subject that has this schema."""
        if not self.subjects.of(subject, deleted=deleted):
            raise subject_not_found(subject)
        parsed = self._parse(subject, new, normalize)
        found = self._same(subject, new, parsed, deleted=deleted)
        if found is None:
            raise schema_not_found()
        return found

    # Registering

    def register(
        self, subject: str, new: NewSchema, *, normalize: bool = False
    ) -> Decided[StoredSchema]:
        """A version with this schema: one that is there, or a new one."""
        mode = self.settings.check_writable(subject)
        parsed = self._parse(subject, new, normalize)
        found = self._same(subject, new, parsed, deleted=False)
        if found is not None and new.schema_id in (None, found.schema_id):
            return Decided(found)
        if mode == "IMPORT":
            return self._import(subject, new, parsed)
        if new.schema_id is not None:
            raise not_permitted(f"Subject {subject} is not in import mode")
        self._check_compatible(subject, parsed)
        known = self.subjects.id_of(new.kind, parsed.text, new.references)
        schema_id = self.subjects.highest_id + 1 if known is None else known
        numbers = [each.version for each in self.subjects.of(subject, deleted=True)]
        schema = StoredSchema(
            subject, max(numbers, default=0) + 1, schema_id, parsed.text, new.kind, new.references
        )
        return self._registered(schema)

    def _import(self, subject: str, new: NewSchema, parsed: ParsedSchema) -> Decided[StoredSchema]:
        if new.schema_id is None:
            raise not_permitted(f"Subject {subject} is in import mode")
        taken = self.subjects.by_id(new.schema_id)
        if taken is not None and (taken.text, taken.kind) != (parsed.text, new.kind):
            message = f"Overwrite new schema with id {new.schema_id} is not permitted."
            raise not_permitted(message)
        numbers = [each.version for each in self.subjects.of(subject, deleted=True)]
        version = new.version or max(numbers, default=0) + 1
        schema = StoredSchema(
            subject, version, new.schema_id, parsed.text, new.kind, new.references
        )
        return self._registered(schema)

    def _registered(self, schema: StoredSchema) -> Decided[StoredSchema]:
        """With it go the deleted versions of the subject that had the same schema."""
        records: list[RegistryRecord] = [SchemaRecord(schema.subject, schema.version, schema)]
        for each in self.subjects.of(schema.subject, deleted_only=True):
            is_referred_to = self.subjects.referrers((each.subject, each.version))
            is_same = each.schema_id == schema.schema_id and each.version != schema.version
            if is_same and not is_referred_to:
                records.append(SchemaRecord(each.subject, each.version, None))
        return Decided(schema, records)

    def _parse(self, subject: str, new: NewSchema, normalize: bool) -> ParsedSchema:
        wanted = normalize or self.settings.normalizes(subject)
        return self.resolution.parse(new, normalize=wanted)

    def _same(
        self, subject: str, new: NewSchema, parsed: ParsedSchema, *, deleted: bool
    ) -> StoredSchema | None:
        schema_id = self.subjects.id_of(new.kind, parsed.text, new.references)
        listed = self.subjects.of(subject, deleted=deleted)
        return next((each for each in reversed(listed) if each.schema_id == schema_id), None)

    # Compatibility

    def is_compatible(self, subject: str, version: str | None, new: NewSchema) -> list[str]:
        """Why a schema does not fit a version, or without one all that the level names."""
        parsed = self._parse(subject, new, False)
        if version is None:
            older = self.subjects.of(subject)
        else:
            number = version_number(version)
            listed = self.subjects.of(subject)
            older = [each for each in listed if each.version == number] or listed[-1:]
            if number is not None and (not older or older[0].version != number):
                raise version_not_found(number) if listed else subject_not_found(subject)
        return self._incompatible(subject, parsed, older)

    def _check_compatible(self, subject: str, parsed: ParsedSchema) -> None:
        reasons = self._incompatible(subject, parsed, self.subjects.of(subject))
        if reasons:
            message = "Schema being registered is incompatible with an earlier schema for subject "
            raise RegistryRefused(409, f'{message}"{subject}", details: [{", ".join(reasons)}]')

    def _incompatible(
        self, subject: str, parsed: ParsedSchema, older: list[StoredSchema]
    ) -> list[str]:
        level = self.settings.level(subject)
        if level is CompatibilityLevel.NONE or not older:
            return []

        def reads(reader: AnySchema, writer: AnySchema) -> list[Difference]:
            return differences(self._parsed(reader), self._parsed(writer))

        versions: list[AnySchema] = [*older]
        failed = incompatibilities(level, parsed, versions, reads)
        if failed is None:
            return []
        against, found = failed
        assert isinstance(against, StoredSchema), "it is one of the versions"
        return _reasons(found, against, level)

    def _parsed(self, schema: AnySchema) -> ParsedSchema:
        """Only what is compared is parsed; a stored schema that this one cannot read is named."""
        if isinstance(schema, ParsedSchema):
            return schema
        try:
            return self.resolution.stored(schema)
        except InvalidSchema as error:
            raise InvalidSchema(
                f"version {schema.version} of {schema.subject}, which is stored, cannot be read: "
                f"{error.message}; set the compatibility of the subject to NONE to go on"
            ) from error

    # Deleting

    def delete_subject(self, subject: str, *, permanent: bool) -> Decided[list[int]]:
        """All versions of a subject; for ever only if they are deleted already."""
        self.settings.check_writable(subject)
        every = self.subjects.of(subject, deleted=True)
        alive = [each for each in every if not each.is_deleted]
        if not every:
            raise subject_not_found(subject)
        if permanent and alive:
            raise subject_not_soft_deleted(subject)
        if not permanent and not alive:
            raise subject_soft_deleted(subject)
        leaving = every if permanent else alive
        for each in leaving:
            self._check_unreferenced(each)
        numbers = [each.version for each in leaving]
        if permanent:
            gone = [SchemaRecord(subject, number, None) for number in numbers]
            return Decided(numbers, [*gone, NoopRecord(self.subjects.highest_id)])
        records = [SubjectDeletion(subject, numbers[-1]), *self._without_settings(subject)]
        return Decided(numbers, records)

    def delete_version(self, subject: str, version: str, *, permanent: bool) -> Decided[int]:
        """One version of a subject; for ever only if it is deleted already."""
        self.settings.check_writable(subject)
        wanted = self._to_delete(subject, version, permanent)
        self._check_unreferenced(wanted)
        number = wanted.version
        if permanent:
            records: list[RegistryRecord] = [SchemaRecord(subject, number, None)]
            return Decided(number, [*records, NoopRecord(self.subjects.highest_id)])
        records = [SchemaRecord(subject, number, replace(wanted, is_deleted=True))]
        if len(self.subjects.of(subject)) == 1:
            records += self._without_settings(subject)
        return Decided(number, records)

    def _to_delete(self, subject: str, version: str, permanent: bool) -> StoredSchema:
        if version_number(version) is None:
            kept = self.subjects.of(subject, deleted_only=permanent)
            if kept:
                return kept[-1]
        wanted = self.version(subject, version, deleted=True)
        if permanent and not wanted.is_deleted:
            raise version_not_soft_deleted(subject, wanted.version)
        if not permanent and wanted.is_deleted:
            raise version_soft_deleted(subject, wanted.version)
        return wanted

    def _check_unreferenced(self, schema: StoredSchema) -> None:
        place = schema.subject, schema.version
        if any(not each.is_deleted for each in self.subjects.referrers(place)) or (
            schema.is_deleted and self.subjects.referrers(place)
        ):
            key = f"{{magic=1,keytype=SCHEMA,subject={place[0]},version={place[1]}}}"
            raise RegistryRefused(42206, f"One or more references exist to the schema {key}.")

    def _without_settings(self, subject: str) -> list[RegistryRecord]:
        found: list[RegistryRecord] = []
        if subject in self.subjects.configs:
            found.append(ConfigRecord(subject, None))
        if subject in self.subjects.modes:
            found.append(ModeRecord(subject, None))
        return found


def version_number(version: str) -> int | None:
    """The number of a version as clients say it; None is the newest."""
    if version in (LATEST, "-1"):
        return None
    if not version.isascii() or not version.isdigit() or not 1 <= int(version) <= _VERSION_MAX:
        raise invalid_version(version)
    return int(version)


def _reasons(
    found: list[Difference], against: StoredSchema, level: CompatibilityLevel
) -> list[str]:
    return [
        *map(str, found),
        f"{{oldSchemaVersion: {against.version}}}",
        f"{{oldSchema: '{against.text}'}}",
        f"{{compatibility: '{level.value}'}}",
    ]
