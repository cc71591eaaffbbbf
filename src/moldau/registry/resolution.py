"""Schemas of the registry, parsed together with what they refer to, and remembered for a while."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from moldau.registry.failures import InvalidSchema
from moldau.registry.records import AVRO, SchemaReference, StoredSchema
from moldau.registry.schemas.parsed import ParsedSchema, parse_schema
from moldau.registry.subjects import Place, Subjects

_REMEMBERED_MAX = 1000
_CHAIN_MAX = 50
_REFERENCES_MAX = 1000


@dataclass(frozen=True, slots=True)
class NewSchema:
    """A schema as a client sends it; id and version only where a registry is imported."""

    text: str
    kind: str = AVRO
    references: tuple[SchemaReference, ...] = ()
    schema_id: int | None = None
    version: int | None = None


@dataclass(slots=True)
class Resolution:
    """Parses what is stored or sent."""

    subjects: Subjects
    _remembered: dict[Place, tuple[StoredSchema, ParsedSchema]] = field(default_factory=dict)

    def parse(self, new: NewSchema, *, normalize: bool = False) -> ParsedSchema:
        """A schema that was sent; InvalidSchema if it is none."""
        others = self._others(new.references, ())
        return parse_schema(new.kind, new.text, others, normalize=normalize)

    def stored(self, schema: StoredSchema) -> ParsedSchema:
        """A schema that is stored."""
        return self._stored(schema, ())

    def _stored(self, schema: StoredSchema, around: tuple[Place, ...]) -> ParsedSchema:
        place = schema.subject, schema.version
        kept, parsed = self._remembered.pop(place, (None, None))
        if kept is not schema or parsed is None:
            others = self._others(schema.references, (*around, place))
            parsed = parse_schema(schema.kind, schema.text, others, is_new=False)
        self._remembered[place] = schema, parsed  # as the newest
        if len(self._remembered) > _REMEMBERED_MAX:
            del self._remembered[next(iter(self._remembered))]
        return parsed

    def _others(
        self, references: Iterable[SchemaReference], around: tuple[Place, ...]
    ) -> Mapping[str, ParsedSchema]:
        found: dict[str, ParsedSchema] = {}
        for each in references:
            place = each.subject, each.version
            schema = self.subjects.at(each)
            named = f'subject "{each.subject}" and version {each.version}'
            if schema is None:
                raise InvalidSchema(f"No schema reference found for {named}")
            if place in around:
                raise InvalidSchema(f"References go in a circle at {named}")
            if len(around) > _CHAIN_MAX or len(found) > _REFERENCES_MAX:
                raise InvalidSchema("Too many references, or one within another too often")
            found[each.name] = self._stored(schema, around)
        return found
