"""Whether all values of one JSON schema fit another, by the rules of Confluent's registry.

An open object may have anything under a name that it does not declare. A property that is new in
it is therefore a change that old values may not fit, while a closed object may gain properties
but lose none.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from moldau.registry.levels import Difference
from moldau.registry.schemas.json_schema import Facet, JsonPlace, matches

# Words whose number is a bound: the larger, or for `lower` the smaller, the more values fit.
_UPPER = {
    "string": ("maxLength",),
    "number": ("maximum", "exclusiveMaximum"),
    "object": ("maxProperties",),
    "array": ("maxItems", "maxContains"),
}
_LOWER = {
    "string": ("minLength",),
    "number": ("minimum", "exclusiveMinimum"),
    "object": ("minProperties",),
    "array": ("minItems", "minContains"),
}
_COMPARISONS_MAX = 5000


def differences(reader: JsonPlace, writer: JsonPlace) -> list[Difference]:
    """Why a value of the writer's schema may not fit the reader's: nothing if all fit."""
    comparison = _Comparison()
    comparison.compare(writer, reader)
    return comparison.found


@dataclass(slots=True)
class _Comparison:
    found: list[Difference] = field(default_factory=list)
    path: list[str] = field(default_factory=lambda: ["#"])
    under_way: set[tuple[int, int]] = field(default_factory=set)
    """Schemas that refer to themselves are met again."""
    count: list[int] = field(default_factory=lambda: [0])

    def compare(self, old: JsonPlace, new: JsonPlace) -> None:
        old, new = old.resolved(), new.resolved()
        pair = id(old.schema), id(new.schema)
        if pair in self.under_way or old.schema is new.schema:
            return
        self.count[0] += 1
        if self.count[0] > _COMPARISONS_MAX:
            raise RecursionError("too many combinations to compare")
        self.under_way.add(pair)
        try:
            self._facets(old, new)
        finally:
            self.under_way.discard(pair)

    def _facets(self, old: JsonPlace, new: JsonPlace) -> None:
        before, after = old.facets(), new.facets()
        if not after or any(each.kind == "false" for each in before):
            return  # everything fits, or nothing has to
        for each in after:
            self._facet(old, before, each)

    def _facet(self, old: JsonPlace, before: list[Facet], after: Facet) -> None:
        """One demand of the new schema: something of the old one has to see to it."""
        same = [each for each in before if each.kind == after.kind]
        if after.kind == "combined":
            self._combined(old, before, after)
        elif same:
            self._same_kind(same[0], after)
        elif len(sums := [each for each in before if each.kind == "combined"]) == 1:
            self._from_branches(sums[0], after)
        elif after.kind not in ("number", "string", "object", "array") or before:
            self._differ("TYPE_CHANGED", "another type of value fits")
        else:
            self._differ("TYPE_NARROWED", f"any value was allowed, and now only {after.kind}")

    def _from_branches(self, before: Facet, after: Facet) -> None:
        """Of a sum all branches have to fit, of a product one of them."""
        alone = JsonPlace(after.place.documents, _without_combinations(after.place.schema))
        tried = [self._attempt(branch, alone) for branch in before.branches()]
        failed = [each for each in tried if each]
        if (failed and before.is_sum) or (len(failed) == len(tried)):
            self._differ("TYPE_CHANGED", f"not all that fitted {before.criterion} fits")

    def _same_kind(self, before: Facet, after: Facet) -> None:
        match after.kind:
            case "enum":
                self._enum(before.place, after.place)
            case "string" | "number":
                self._scalar(after.kind, before.place, after.place)
            case "object":
                self._object(before.place, after.place)
            case "array":
                self._array(before.place, after.place)
            case "not":
                forbidden = after.place.part(after.place.word("not"))
                was = before.place.part(before.place.word("not"))
                if self._attempt(forbidden, was):
                    self._differ("NOT_TYPE_EXTENDED", "more is forbidden")
            case "conditional":
                if any(before.place.word(w) != after.place.word(w) for w in ("if", "then", "else")):
                    self._differ("TYPE_CHANGED", "if, then or else has changed")

    # Combinations

    def _combined(self, old: JsonPlace, before: list[Facet], after: Facet) -> None:
        same = [each for each in before if each.kind == "combined"]
        if not same:
            tried = [self._attempt(old, branch) for branch in after.branches()]
            fits = any(not each for each in tried) if after.is_sum else not any(tried)
            if not fits:
                self._differ("TYPE_CHANGED", f"the old schema fits no branch of {after.criterion}")
            return
        earlier = next((each for each in same if each.criterion == after.criterion), same[0])
        old_branches, new_branches = earlier.branches(), after.branches()
        if not self._is_criterion_wider(earlier, after):
            self._differ("COMBINED_TYPE_CHANGED", f"{earlier.criterion} became {after.criterion}")
            return
        if after.is_sum and len(new_branches) < len(old_branches):
            self._differ("SUM_TYPE_NARROWED", f"{after.criterion} has fewer branches")
        if not after.is_sum and len(new_branches) > len(old_branches):
            self._differ("PRODUCT_TYPE_EXTENDED", f"{after.criterion} has more branches")
        fitting = [
            [at for at, new in enumerate(new_branches) if not self._attempt(each, new)]
            for each in old_branches
        ]
        if _matched(fitting) < min(len(old_branches), len(new_branches)):
            self._differ("COMBINED_TYPE_SUBSCHEMAS_CHANGED", f"branches of {after.criterion}")

    @staticmethod
    def _is_criterion_wider(before: Facet, after: Facet) -> bool:
        if before.criterion == after.criterion or after.criterion in ("anyOf", "type"):
            return True
        if before.criterion == "type" and after.criterion == "oneOf":
            return True
        is_alone = len(before.branches()) == 1
        return is_alone and (after.criterion == "oneOf" or len(after.branches()) == 1)

    # Types

    def _enum(self, old: JsonPlace, new: JsonPlace) -> None:
        before, after = _values(old), _values(new)
        if any(each not in after for each in before):
            kind = "ENUM_ARRAY_NARROWED" if _is_within(after, before) else "ENUM_ARRAY_CHANGED"
            self._differ(kind, "values of the enumeration are gone")

    def _scalar(self, kind: str, old: JsonPlace, new: JsonPlace) -> None:
        self._bounds(kind, old, new)
        if kind == "string":
            with self._within("pattern"):
                before, after = old.word("pattern"), new.word("pattern")
                if after is not None and before != after:
                    added = "PATTERN_ADDED" if before is None else "PATTERN_CHANGED"
                    self._differ(added, f"the pattern is {after!r} now")
            return
        with self._within("multipleOf"):
            self._multiple(old.word("multipleOf"), new.word("multipleOf"))
        if new.word("type") == "integer" and old.word("type") != "integer":
            self._differ("TYPE_NARROWED", "it may not have a fraction any more")

    def _multiple(self, before: object, after: object) -> None:
        if not isinstance(after, int | float) or before == after:
            return
        if not isinstance(before, int | float):
            self._differ("MULTIPLE_OF_ADDED", f"it has to be a multiple of {after}")
        elif before % after:
            kind = "MULTIPLE_OF_CHANGED" if after % before else "MULTIPLE_OF_EXPANDED"
            self._differ(kind, f"a multiple of {before} need not be one of {after}")

    def _bounds(self, kind: str, old: JsonPlace, new: JsonPlace) -> None:
        for word in (*_UPPER[kind], *_LOWER[kind]):
            before, after = old.word(word), new.word(word)
            if not isinstance(after, int | float) or isinstance(after, bool) or before == after:
                continue
            with self._within(word):
                if not isinstance(before, int | float) or isinstance(before, bool):
                    self._differ(f"{_snake(word)}_ADDED", f"{word} is {after}, and was not there")
                elif word in _UPPER[kind] and after < before:
                    self._differ(f"{_snake(word)}_DECREASED", f"{after} is less than {before}")
                elif word in _LOWER[kind] and after > before:
                    self._differ(f"{_snake(word)}_INCREASED", f"{after} is more than {before}")

    # Objects

    def _object(self, old: JsonPlace, new: JsonPlace) -> None:
        self._bounds("object", old, new)
        before, after = _mapping(old, "properties"), _mapping(new, "properties")
        with self._within("properties"):
            for name in dict.fromkeys((*before, *after)):
                with self._within(name):
                    if name not in after:
                        self._removed(old.part(before[name]), new, name)
                    elif name not in before:
                        self._added(old, new.part(after[name]), name)
                    else:
                        self.compare(old.part(before[name]), new.part(after[name]))
        self._required(old, new, before, after)
        self._dependencies(old, new)
        self._additional("additionalProperties", old, new)

    def _removed(self, property_before: JsonPlace, new: JsonPlace, name: str) -> None:
        if _is_open_object(new):
            return
        covering = _covering(new, name)
        if covering is None:
            if property_before.schema is not False:
                self._differ("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", "it is gone")
        elif self._attempt(property_before, covering):
            kind = "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
            self._differ(kind, "it is gone, and does not fit what is allowed beside the properties")

    def _added(self, old: JsonPlace, added: JsonPlace, name: str) -> None:
        if _is_open_object(old):
            if added.resolved().facets():
                self._differ("PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", "old values may have another")
            return
        covering = _covering(old, name)
        if covering is not None and self._attempt(covering, added):
            kind = "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
            self._differ(kind, "what was allowed beside the properties does not fit it")

    def _required(
        self, old: JsonPlace, new: JsonPlace, before: dict[str, object], after: dict[str, object]
    ) -> None:
        was_required, is_required = _names(old, "required"), _names(new, "required")
        for name in is_required:
            declared = after.get(name)
            has_default = isinstance(declared, dict) and "default" in declared
            if name in was_required or has_default:
                continue
            with self._within("required" if name in before else "properties", name):
                is_new = name not in before and not _is_open_object(old)
                kind = (
                    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"
                    if is_new
                    else "REQUIRED_ATTRIBUTE_ADDED"
                )
                self._differ(kind, "it is required now, and has no default")

    def _dependencies(self, old: JsonPlace, new: JsonPlace) -> None:
        for word in ("dependencies", "dependentRequired", "dependentSchemas"):
            before, after = _mapping(old, word), _mapping(new, word)
            for name, demanded in after.items():
                with self._within(word, name):
                    if name not in before:
                        kind = "ARRAY" if isinstance(demanded, list) else "SCHEMA"
                        self._differ(f"DEPENDENCY_{kind}_ADDED", "it was not there")
                    elif isinstance(demanded, list):
                        was = before[name]
                        if not isinstance(was, list) or not _is_within(demanded, was):
                            self._differ("DEPENDENCY_ARRAY_EXTENDED", "it demands more")
                    else:
                        self.compare(old.part(before[name]), new.part(demanded))

    def _additional(self, word: str, old: JsonPlace, new: JsonPlace) -> None:
        before, after = old.word(word), new.word(word)
        kind = _snake(word)
        with self._within(word):
            if after is None or after is True or before is False:
                return
            if after is False:
                self._differ(f"{kind}_REMOVED", "nothing more is allowed")
            elif before is None or before is True:
                if new.part(after).resolved().facets():
                    self._differ(f"{kind}_NARROWED", "not everything more is allowed")
            else:
                self.compare(old.part(before), new.part(after))

    # Arrays

    def _array(self, old: JsonPlace, new: JsonPlace) -> None:
        self._bounds("array", old, new)
        if new.word("uniqueItems") is True and old.word("uniqueItems") is not True:
            with self._within("uniqueItems"):
                self._differ("UNIQUE_ITEMS_ADDED", "items may not repeat any more")
        before, after = _items(old), _items(new)
        with self._within("items"):
            for index in range(max(len(before.first), len(after.first))):
                with self._within(str(index)):
                    self._item(before, after, index)
            if after.rest is not None:
                if before.rest is None:
                    if after.rest.resolved().facets():
                        self._differ("SCHEMA_ADDED", "items could be anything")
                else:
                    self.compare(before.rest, after.rest)

    def _item(self, before: "_Items", after: "_Items", index: int) -> None:
        was, is_now = before.at(index), after.at(index)
        if is_now is None:
            return
        if was is None:
            if is_now.resolved().facets():
                self._differ("ITEM_ADDED_TO_OPEN_CONTENT_MODEL", "it could be anything")
        elif self._attempt(was, is_now):
            self._differ("TYPE_CHANGED", "the item does not fit")

    # How it is said

    def _attempt(self, old: JsonPlace, new: JsonPlace) -> list[Difference]:
        """The differences of two schemas, without their counting as yet."""
        tried = _Comparison(path=list(self.path), under_way=self.under_way, count=self.count)
        tried.compare(old, new)
        return tried.found

    def _differ(self, kind: str, detail: str) -> None:
        path = "/".join(self.path)
        self.found.append(Difference(kind, path, f"at {path}: {detail}"))

    @contextmanager
    def _within(self, *names: str) -> Iterator[None]:
        self.path += names
        yield
        del self.path[-len(names) :]


@dataclass(slots=True)
class _Items:
    """Items by their place, and what all after them have to fit; None: anything does."""

    first: list[JsonPlace]
    rest: JsonPlace | None

    def at(self, index: int) -> JsonPlace | None:
        return self.first[index] if index < len(self.first) else self.rest


def _items(place: JsonPlace) -> _Items:
    listed, rest = place.word("prefixItems"), place.word("items")
    if isinstance(rest, list):
        listed, rest = rest, place.word("additionalItems")
    first = [place.part(each) for each in listed] if isinstance(listed, list) else []
    return _Items(first, None if rest is None or rest is True else place.part(rest))


def _matched(fitting: list[list[int]]) -> int:
    """How many old branches can each have a new one of its own (by augmenting paths)."""
    taken: dict[int, int] = {}

    def place(old: int, tried: set[int]) -> bool:
        for new in fitting[old]:
            if new not in tried:
                tried.add(new)
                if new not in taken or place(taken[new], tried):
                    taken[new] = old
                    return True
        return False

    return sum(place(old, set()) for old in range(len(fitting)))


def _is_open_object(place: JsonPlace) -> bool:
    extra = place.word("additionalProperties")
    return not place.word("patternProperties") and (extra is None or extra is True)


def _covering(place: JsonPlace, name: str) -> JsonPlace | None:
    """What an object that is not open demands of a property that it does not declare."""
    for pattern, schema in _mapping(place, "patternProperties").items():
        if matches(pattern, name):
            return place.part(schema)
    extra = place.word("additionalProperties")
    return None if extra is False else place.part(True if extra is None else extra)


def _without_combinations(schema: object) -> object:
    if not isinstance(schema, dict):
        return schema
    return {word: each for word, each in schema.items() if word not in ("allOf", "anyOf", "oneOf")}


def _values(place: JsonPlace) -> list[object]:
    """The values of an enumeration as texts: 1 and true are equal to Python."""
    assert isinstance(place.schema, dict), "only objects have values"
    listed = [place.schema["const"]] if "const" in place.schema else place.schema["enum"]
    return [json.dumps(each, sort_keys=True) for each in listed]


def _is_within(some: Iterable[object], others: list[object]) -> bool:
    return all(each in others for each in some)


def _mapping(place: JsonPlace, word: str) -> dict[str, object]:
    found = place.word(word)
    return found if isinstance(found, dict) else {}


def _names(place: JsonPlace, word: str) -> list[str]:
    found = place.word(word)
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _snake(word: str) -> str:
    return "".join(f"_{each}" if each.isupper() else each.upper() for each in word)
