"""JSON Schema: checked by its meta-schema, and taken apart for comparison."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

import jsonschema_rs

from moldau.registry.failures import InvalidSchema

_DRAFT_7 = "http://json-schema.org/draft-07/schema#"
# The library would fetch any other from wherever it is: a client must not send us there.
_DRAFTS = (
    *("http://json-schema.org/draft-04/schema", "http://json-schema.org/draft-06/schema"),
    *("http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2019-09/schema"),
    "https://json-schema.org/draft/2020-12/schema",
)
_CRITERIA = ("allOf", "anyOf", "oneOf")
_REFERENCES_MAX = 100
# Words that make a schema without `type` one for values of that type.
_WORDS = {
    "string": ("minLength", "maxLength", "pattern", "format", "contentEncoding"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": (
        *("items", "prefixItems", "additionalItems", "unevaluatedItems", "minItems"),
        *("maxItems", "uniqueItems", "contains", "minContains", "maxContains"),
    ),
    "object": (
        *("properties", "patternProperties", "additionalProperties", "required", "dependencies"),
        *("minProperties", "maxProperties", "propertyNames", "dependentRequired"),
        *("dependentSchemas", "unevaluatedProperties"),
    ),
}

Json = Mapping[str, object]


@dataclass(slots=True)
class JsonDocuments:
    """A schema and those that it refers to, by the names in its text."""

    root: object
    others: Mapping[str, "JsonDocuments"] = field(default_factory=dict)

    def find(self, reference: str) -> "JsonPlace":
        """What a `$ref` means; InvalidSchema if it means nothing here."""
        name, _, pointer = reference.partition("#")
        if name and not self._is_own(name):
            for known, other in self.others.items():
                if name in (known, f"./{known}") or other._is_own(name):
                    return other.find(f"#{pointer}")
            raise InvalidSchema(f"$ref {reference}: there is no reference of this name")
        return JsonPlace(self, self._at(pointer, reference))

    def _is_own(self, name: str) -> bool:
        return isinstance(self.root, dict) and self.root.get("$id", self.root.get("id")) == name

    def _at(self, pointer: str, reference: str) -> object:
        if pointer and not pointer.startswith("/"):
            return _anchored(self.root, pointer, reference)
        found = self.root
        for part in pointer.split("/")[1:]:
            step = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and step in found:
                found = found[step]
            elif isinstance(found, list) and step.isdigit() and int(step) < len(found):
                found = found[int(step)]
            else:
                raise InvalidSchema(f"$ref {reference}: there is no {step!r}")
        return found


@dataclass(slots=True)
class JsonPlace:
    """A schema within a document."""

    documents: JsonDocuments
    schema: object

    def resolved(self) -> "JsonPlace":
        """What it refers to, if it does; words beside `$ref` do not count, as in draft 7."""
        place = self
        for _ in range(_REFERENCES_MAX):
            match place.schema:
                case {"$ref": str(reference)}:
                    place = place.documents.find(reference)
                case _:
                    return place
        raise InvalidSchema(f"$ref: more than {_REFERENCES_MAX} in a row")

    def part(self, schema: object) -> "JsonPlace":
        """A schema that stands within this one."""
        return JsonPlace(self.documents, schema)

    def word(self, name: str) -> object:
        """What a word of this schema says; None if it is not there."""
        return self.schema.get(name) if isinstance(self.schema, dict) else None

    def facets(self) -> "list[Facet]":
        """What the schema demands, one kind of demand after the other: all of them hold."""
        if self.schema is False:
            return [Facet("false", self)]
        if not isinstance(self.schema, dict):
            return []
        found: list[Facet] = []
        if "const" in self.schema or "enum" in self.schema:
            found.append(Facet("enum", self))
        else:
            found += self._typed()
        for criterion in _CRITERIA:
            if isinstance(self.schema.get(criterion), list):
                found.append(Facet("combined", self, criterion))
        if "not" in self.schema:
            found.append(Facet("not", self))
        if "if" in self.schema:
            found.append(Facet("conditional", self))
        return found

    def _typed(self) -> "list[Facet]":
        assert isinstance(self.schema, dict), "asked of objects alone"
        kinds = self.schema.get("type")
        if isinstance(kinds, list) and len(kinds) == 1:
            kinds = kinds[0]
        if isinstance(kinds, list):
            return [Facet("combined", self, "type")]
        if isinstance(kinds, str):
            return [Facet("number" if kinds == "integer" else kinds, self)]
        return [
            Facet(kind, self)
            for kind, words in _WORDS.items()
            if any(word in self.schema for word in words)
        ]


@dataclass(slots=True)
class Facet:
    """One kind of demand of a schema."""

    kind: str
    """A type, `enum`, `combined`, `not`, `conditional` or `false`."""
    place: JsonPlace
    criterion: str = ""

    def branches(self) -> list[JsonPlace]:
        """What is combined, each once."""
        schema = self.place.schema
        assert isinstance(schema, dict), "only objects combine"
        if self.criterion == "type":
            rest = {word: each for word, each in schema.items() if word not in _CRITERIA}
            listed: list[object] = [{**rest, "type": kind} for kind in _list(schema["type"])]
        else:
            listed = _list(schema[self.criterion])
        once = {json.dumps(each, sort_keys=True): each for each in listed}
        return [self.place.part(each) for each in once.values()]

    @property
    def is_sum(self) -> bool:
        """Whether a value has to fit one of the branches, not all of them."""
        return self.criterion != "allOf"


def load(declared: object, others: Mapping[str, JsonDocuments]) -> JsonDocuments:
    """A schema that is one; InvalidSchema if it is not, or refers to what is not there."""
    if not isinstance(declared, dict | bool):
        raise InvalidSchema("a JSON schema is an object, true or false")
    checked = declared
    if isinstance(declared, dict):
        checked = {**declared, "$schema": _draft(declared.get("$schema", _DRAFT_7))}
    try:
        jsonschema_rs.meta.validate(checked)
    except ValueError as error:
        raise InvalidSchema(str(error).splitlines()[0]) from error
    documents = JsonDocuments(declared, others)
    _check_references(documents)
    return documents


def _draft(name: object) -> str:
    known = name.removesuffix("#").partition(":")[2] if isinstance(name, str) else ""
    for each in _DRAFTS:
        if each.partition(":")[2] == known:
            return each
    raise InvalidSchema(f"$schema {name!r}: known are {', '.join(_DRAFTS)}")


def canonical(declared: object, *, is_sorted: bool = False) -> str:
    """The text that is kept: without spaces; sorted only if it is asked for."""
    return json.dumps(declared, separators=(",", ":"), ensure_ascii=False, sort_keys=is_sorted)


def _check_references(documents: JsonDocuments) -> None:
    waiting: list[object] = [documents.root]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            reference = found.get("$ref")
            if isinstance(reference, str):
                documents.find(reference)
            waiting += (each for word, each in found.items() if word not in ("enum", "const"))
        elif isinstance(found, list):
            waiting += found


def _anchored(root: object, anchor: str, reference: str) -> object:
    waiting = [root]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            if found.get("$anchor") == anchor or found.get("$id") == f"#{anchor}":
                return found
            waiting += found.values()
        elif isinstance(found, list):
            waiting += found
    raise InvalidSchema(f"$ref {reference}: there is no such anchor")


def _list(found: object) -> list[object]:
    return found if isinstance(found, list) else []


def matches(pattern: str, name: str) -> bool:
    """Whether a name fits a pattern of `patternProperties`; one that is no pattern fits nothing."""
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False
