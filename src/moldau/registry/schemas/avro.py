"""Avro: reads a declaration, and writes it as Java's library does, which is the canonical form.

Written by hand because no library keeps what the text of a schema says: fastavro and Apache's
own Python package drop or reorder attributes, and equality of schemas is equality of this text.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from moldau.registry.failures import InvalidSchema

PRIMITIVES = frozenset(
    {"null", "boolean", "int", "long", "float", "double", "bytes", "string"},
)
NAMED = frozenset({"record", "error", "enum", "fixed"})
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ORDERS = ("ascending", "descending", "ignore")
_OF_TYPE = {
    "record": ("fields",),
    "error": ("fields",),
    "enum": ("symbols", "default"),
    "fixed": ("size",),
    "array": ("items",),
    "map": ("values",),
}
_OF_NAMED = ("name", "namespace", "doc", "aliases")
_ABSENT = object()
_OF_FIELD = ("name", "type", "doc", "default", "order", "aliases")


@dataclass(slots=True, eq=False)
class AvroField:
    """A field of a record; `default` holds the default, if there is one."""

    name: str
    type: "AvroType"
    doc: str | None = None
    default: tuple[object, ...] = ()
    order: str = "ascending"
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, object] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class AvroType:
    """A type. Named ones refer to each other, and to themselves."""

    kind: str
    name: str = ""
    """With its namespace."""
    doc: str | None = None
    aliases: tuple[str, ...] = ()
    fields: list[AvroField] = field(default_factory=list)
    symbols: tuple[str, ...] = ()
    default: str | None = None
    size: int = 0
    items: "AvroType | None" = None
    """Of an array, or the values of a map."""
    branches: "list[AvroType]" = field(default_factory=list)
    properties: Mapping[str, object] = field(default_factory=dict)

    @property
    def short_name(self) -> str:
        """Without the namespace."""
        return self.name.rpartition(".")[2]


Names = dict[str, AvroType]


def parse(declared: object, names: Names, *, is_new: bool = True) -> AvroType:
    """The type that JSON declares; named ones are added to those that are known.

    Defaults are checked only of what is new, as in Confluent's: older releases did not look.
    """
    known = set(names)
    found = _parse(declared, names, "")
    for name in names.keys() - known if is_new else ():
        for each in names[name].fields:
            if each.default and not is_default(each.type, each.default[0]):
                value = json.dumps(each.default[0])
                raise InvalidSchema(f"Invalid default for field {each.name}: {value}")
    return found


def _parse(declared: object, names: Names, space: str) -> AvroType:
    if isinstance(declared, str):
        return _by_name(declared, names, space)
    if isinstance(declared, list):
        return _union([_parse(each, names, space) for each in declared])
    if isinstance(declared, dict) and "type" in declared:
        return _declared(declared, names, space)
    raise InvalidSchema(f"No type: {_short(declared)}")


def _declared(declared: dict[str, object], names: Names, space: str) -> AvroType:
    kind = declared["type"]
    if not isinstance(kind, str):
        return _parse(kind, names, space)
    if kind in NAMED:
        return _named(kind, declared, names, space)
    if kind in PRIMITIVES:
        return AvroType(kind, properties=_rest(declared, ()))
    if kind not in _OF_TYPE:
        return _by_name(kind, names, space)
    (inner,) = _OF_TYPE[kind]
    if inner not in declared:
        raise InvalidSchema(f"{kind} without {inner}")
    found = AvroType(kind, items=_parse(declared[inner], names, space))
    found.properties = _rest(declared, _OF_TYPE[kind])
    return found


def _by_name(name: str, names: Names, space: str) -> AvroType:
    if name in PRIMITIVES:
        return AvroType(name)
    full = name if "." in name or not space else f"{space}.{name}"
    if full not in names and name not in names:
        raise InvalidSchema(f'Undefined name: "{name}"')
    return names[full] if full in names else names[name]


def _union(branches: list[AvroType]) -> AvroType:
    seen: set[str] = set()
    for each in branches:
        if each.kind == "union":
            raise InvalidSchema("Nested union")
        mark = each.name or each.kind
        if mark in seen:
            raise InvalidSchema(f"Duplicate in union: {mark}")
        seen.add(mark)
    return AvroType("union", branches=branches)


def _named(kind: str, declared: dict[str, object], names: Names, space: str) -> AvroType:
    full = _full_name(declared.get("name"), declared.get("namespace"), space)
    own_space = full.rpartition(".")[0]
    if full in names:
        raise InvalidSchema(f"Can't redefine: {full}")
    found = names[full] = AvroType(
        kind,
        full,
        _text_or_none(declared, "doc"),
        tuple(_full_name(each, None, own_space) for each in _list(declared, "aliases")),
    )
    found.properties = _rest(declared, _OF_NAMED + _OF_TYPE[kind])
    if kind == "enum":
        _read_symbols(found, declared)
    elif kind == "fixed":
        size = declared.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise InvalidSchema(f"Invalid or no size: {full}")
        found.size = size
    else:
        if "fields" not in declared:
            raise InvalidSchema(f"Record has no fields: {full}")
        for each in _list(declared, "fields"):
            _add_field(found, each, names, own_space)
    return found


def _read_symbols(found: AvroType, declared: dict[str, object]) -> None:
    symbols = [_check_name(each) for each in _list(declared, "symbols")]
    if "symbols" not in declared or len(set(symbols)) < len(symbols):
        raise InvalidSchema(f"Enum has no symbols, or one twice: {found.name}")
    found.symbols = tuple(symbols)
    found.default = _text_or_none(declared, "default")
    if found.default is not None and found.default not in symbols:
        raise InvalidSchema(f"The Enum Default: {found.default} is not in the enum symbol set")


def _add_field(record: AvroType, declared: object, names: Names, space: str) -> None:
    if not isinstance(declared, dict) or "type" not in declared:
        raise InvalidSchema(f"No field with a type: {_short(declared)}")
    name = _check_name(declared.get("name"))
    if any(each.name == name for each in record.fields):
        raise InvalidSchema(f"Duplicate field {name} in record {record.name}")
    found = AvroField(name, _parse(declared["type"], names, space))
    found.doc = _text_or_none(declared, "doc")
    found.aliases = tuple(_check_name(each) for each in _list(declared, "aliases"))
    found.properties = _rest(declared, _OF_FIELD)
    found.order = str(declared.get("order", "ascending"))
    if found.order not in _ORDERS:
        raise InvalidSchema(f"No enum constant for the order {found.order}")
    if "default" in declared:
        found.default = (declared["default"],)
    record.fields.append(found)


def is_default(kind: AvroType, value: object) -> bool:
    """Whether JSON is a value of a type; of a union it is one of the first branch."""
    match kind.kind, value:
        case "null", None:
            return True
        case "boolean", bool():
            return True
        case (("int" | "long"), int()) if not isinstance(value, bool):
            bits = 31 if kind.kind == "int" else 63
            return -(1 << bits) <= value < 1 << bits
        case (("float" | "double"), int() | float()) if not isinstance(value, bool):
            return True
        case (("string" | "bytes" | "fixed" | "enum"), str()):
            return True
        case "array", list():
            assert kind.items is not None, "an array has items"
            return all(is_default(kind.items, each) for each in value)
        case "map", dict():
            assert kind.items is not None, "a map has values"
            return all(is_default(kind.items, each) for each in value.values())
        case "union", _:
            return bool(kind.branches) and is_default(kind.branches[0], value)
        case (("record" | "error"), dict()):
            fields = ((each, value.get(each.name, _ABSENT)) for each in kind.fields)
            return all(
                bool(each.default) if given is _ABSENT else is_default(each.type, given)
                for each, given in fields
            )
    return False


def canonical(kind: AvroType, *, known: set[str] | None = None, is_sorted: bool = False) -> str:
    """The text that is kept: without spaces, in Java's order; names that are known are not
    declared again. Sorted, properties of the user's own are in the order of their names."""
    declared = _Writing(set(known or ()), is_sorted=is_sorted).of(kind, "")
    return json.dumps(declared, separators=(",", ":"), ensure_ascii=False)


@dataclass(slots=True)
class _Writing:
    written: set[str]
    is_sorted: bool

    def of(self, kind: AvroType, space: str) -> object:
        if kind.kind == "union":
            return [self.of(each, space) for each in kind.branches]
        if kind.name:
            return self._named(kind, space)
        found: dict[str, object] = {"type": kind.kind}
        if kind.items is not None:
            found["items" if kind.kind == "array" else "values"] = self.of(kind.items, space)
        found |= self._own(kind.properties)
        return found if len(found) > 1 else kind.kind

    def _named(self, kind: AvroType, space: str) -> object:
        own_space, _, short = kind.name.rpartition(".")
        if kind.name in self.written:
            return short if own_space == space else kind.name
        self.written.add(kind.name)
        found: dict[str, object] = {"type": kind.kind, "name": short}
        if own_space != space:
            found["namespace"] = own_space
        if kind.doc is not None:
            found["doc"] = kind.doc
        if kind.kind == "enum":
            found["symbols"] = list(kind.symbols)
            if kind.default is not None:
                found["default"] = kind.default
        elif kind.kind == "fixed":
            found["size"] = kind.size
        else:
            found["fields"] = [self._field(each, own_space) for each in kind.fields]
        found |= self._own(kind.properties)
        if kind.aliases:
            found["aliases"] = [_relative(each, own_space) for each in kind.aliases]
        return found

    def _field(self, of_record: AvroField, space: str) -> dict[str, object]:
        found: dict[str, object] = {"name": of_record.name, "type": self.of(of_record.type, space)}
        if of_record.doc is not None:
            found["doc"] = of_record.doc
        if of_record.default:
            found["default"] = of_record.default[0]
        if of_record.order != "ascending":
            found["order"] = of_record.order
        if of_record.aliases:
            found["aliases"] = list(of_record.aliases)
        return found | self._own(of_record.properties)

    def _own(self, properties: Mapping[str, object]) -> dict[str, object]:
        return dict(sorted(properties.items()) if self.is_sorted else properties)


def _full_name(name: object, namespace: object, space: str) -> str:
    if not isinstance(name, str) or not name:
        raise InvalidSchema(f"No name in schema: {_short(name)}")
    for part in name.split("."):
        _check_name(part)
    if "." in name:
        return name
    within = namespace if isinstance(namespace, str) else space
    return f"{within}.{name}" if within else name


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidSchema(f"Illegal name: {_short(name)}")
    return name


def _relative(name: str, space: str) -> str:
    within, _, short = name.rpartition(".")
    return short if within == space else name


def _text_or_none(declared: dict[str, object], name: str) -> str | None:
    found = declared.get(name)
    return found if isinstance(found, str) else None


def _list(declared: dict[str, object], name: str) -> list[object]:
    found = declared.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise InvalidSchema(f"{name} is not a list: {_short(found)}")
    return found


def _rest(declared: dict[str, object], known: tuple[str, ...]) -> dict[str, object]:
    return {name: each for name, each in declared.items() if name not in (*known, "type")}


def _short(declared: object) -> str:
    text = json.dumps(declared)
    return text if len(text) <= 100 else f"{text[:100]}…"
