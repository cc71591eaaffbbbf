"""Whether one Protobuf file reads what was written with another, by Confluent's rules."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from google.protobuf import descriptor_pb2 as pb

from moldau.registry.levels import Difference
from moldau.registry.schemas.proto_files import ProtoFile, builtin

_Field = pb.FieldDescriptorProto
# Scalars that are written alike, so that one can be read as the other.
_TEXT = "text"
_ALIKE = {
    number: group
    for group, names in {
        "number": ("INT32", "INT64", "UINT32", "UINT64", "BOOL", "ENUM"),
        "zig-zag number": ("SINT32", "SINT64"),
        _TEXT: ("STRING", "BYTES"),
        "32 bits": ("FIXED32", "SFIXED32"),
        "64 bits": ("FIXED64", "SFIXED64"),
        "float": ("FLOAT",),
        "double": ("DOUBLE",),
    }.items()
    for number in (_Field.Type.Value(f"TYPE_{name}") for name in names)
}


@dataclass(frozen=True, slots=True)
class _Named:
    """A message and its name without the package."""

    message: pb.DescriptorProto
    local_name: str
    is_imported: bool


def differences(reader: ProtoFile, writer: ProtoFile) -> list[Difference]:
    """Why the reader may misread what the writer writes: nothing if it does not."""
    return _Comparison(_types(writer), _types(reader)).files(writer.resolved, reader.resolved)


@dataclass(slots=True)
class _Comparison:
    old_types: dict[str, _Named]
    new_types: dict[str, _Named]
    found: list[Difference] = field(default_factory=list)
    path: list[str] = field(default_factory=lambda: ["#"])
    under_way: set[tuple[int, int]] = field(default_factory=set)
    old_syntax: str = ""
    new_syntax: str = ""

    def files(self, old: pb.FileDescriptorProto, new: pb.FileDescriptorProto) -> list[Difference]:
        self.old_syntax, self.new_syntax = old.syntax, new.syntax
        if old.package != new.package:
            detail = f"'{old.package}' became '{new.package}'"
            self._differ("PACKAGE_CHANGED", detail)
        self._messages(old.message_type, new.message_type)
        return self.found

    def _messages(
        self, old: Iterable[pb.DescriptorProto], new: Iterable[pb.DescriptorProto]
    ) -> None:
        before = {each.name: each for each in old if not each.options.map_entry}
        after = {each.name: each for each in new if not each.options.map_entry}
        for name, message in before.items():
            self.path.append(name)
            if name in after:
                self._message(message, after[name])
            else:
                self._differ("MESSAGE_REMOVED", f"the message {name} is gone")
            self.path.pop()

    def _message(self, old: pb.DescriptorProto, new: pb.DescriptorProto) -> None:
        pair = id(old), id(new)
        if pair in self.under_way:
            return
        self.under_way.add(pair)
        before = {each.number: each for each in old.field}
        after = {each.number: each for each in new.field}
        self._oneofs(old, new, before, after)
        for number in sorted({**before, **after}):
            self.path.append(str(number))
            self._field(before.get(number), after.get(number))
            self.path.pop()
        self._messages(old.nested_type, new.nested_type)
        self.under_way.discard(pair)

    def _field(
        self, old: pb.FieldDescriptorProto | None, new: pb.FieldDescriptorProto | None
    ) -> None:
        if old is not None and new is not None:
            self._types(old, new)
        elif old is not None and old.label == _Field.LABEL_REQUIRED:
            self._differ("REQUIRED_FIELD_REMOVED", f"{old.name} was required")
        elif new is not None and new.label == _Field.LABEL_REQUIRED:
            self._differ("REQUIRED_FIELD_ADDED", f"{new.name} is required")

    def _types(self, old: pb.FieldDescriptorProto, new: pb.FieldDescriptorProto) -> None:
        before, after = self.old_types.get(old.type_name), self.new_types.get(new.type_name)
        kinds = _kind(before), _kind(after)
        if kinds[0] != kinds[1]:
            self._differ("FIELD_KIND_CHANGED", f"a {kinds[0]} became a {kinds[1]}")
        elif before is not None and after is not None:
            if kinds[0] == "map":
                for was, is_now in zip(before.message.field, after.message.field, strict=True):
                    self._types(was, is_now)
            else:
                self._named(before, after)
        elif _ALIKE[old.type] != _ALIKE[new.type]:
            detail = f"a {_ALIKE[old.type]} became a {_ALIKE[new.type]}"
            self._differ("FIELD_SCALAR_KIND_CHANGED", detail)
        elif _ALIKE[old.type] != _TEXT:
            self._labels(old, new)

    def _labels(self, old: pb.FieldDescriptorProto, new: pb.FieldDescriptorProto) -> None:
        """Repeated numbers are packed, which a reader of one of them does not expect."""
        was, is_now = _label(old, self.old_syntax), _label(new, self.new_syntax)
        if was is not None and is_now is not None and was != is_now:
            names = [
                _Field.Label.Name(each).removeprefix("LABEL_").lower() for each in (was, is_now)
            ]
            detail = f"a number that was {names[0]} is {names[1]}"
            self._differ("FIELD_NUMERIC_LABEL_CHANGED", detail)

    def _named(self, before: _Named, after: _Named) -> None:
        if before.local_name != after.local_name:
            detail = f"the type {before.local_name} became {after.local_name}"
            self._differ("FIELD_NAMED_TYPE_CHANGED", detail)
        elif before.is_imported or after.is_imported:
            # Those of the file itself are compared by their names, once.
            self._message(before.message, after.message)

    def _oneofs(
        self,
        old: pb.DescriptorProto,
        new: pb.DescriptorProto,
        before: dict[int, pb.FieldDescriptorProto],
        after: dict[int, pb.FieldDescriptorProto],
    ) -> None:
        were, are = _by_oneof(old), _by_oneof(new)
        in_one_before = {number for numbers in were.values() for number in numbers}
        for name, numbers in are.items():
            moved = [each for each in numbers if each in before and each not in in_one_before]
            stayed = [each for each in numbers if each in in_one_before]
            if len(moved) > 1:
                detail = f"values of {len(moved)} fields exclude each other in {name}"
                self._differ("MULTIPLE_FIELDS_MOVED_TO_ONEOF", detail)
            elif moved and stayed:
                detail = f"a field excludes others in {name} that it did not exclude"
                self._differ("FIELD_MOVED_TO_EXISTING_ONEOF", detail)
        for name, numbers in were.items():
            for number in numbers:
                if name in are and number not in after:
                    self._differ("ONEOF_FIELD_REMOVED", f"field {number} of {name} is gone")

    def _differ(self, kind: str, detail: str) -> None:
        path = "/".join(self.path)
        self.found.append(Difference(kind, path, f"at {path}: {detail}"))


def _kind(named: _Named | None) -> str:
    if named is None:
        return "scalar"
    return "map" if named.message.options.map_entry else "message"


def _label(
    declared: pb.FieldDescriptorProto, syntax: str
) -> "pb.FieldDescriptorProto.Label | None":
    """The label that stands in the text; Confluent's compares no others."""
    is_in_oneof = declared.HasField("oneof_index") and not declared.proto3_optional
    is_plain = declared.label == _Field.LABEL_OPTIONAL and not declared.proto3_optional
    if is_in_oneof or (is_plain and syntax == "proto3"):
        return None
    return declared.label


def _by_oneof(message: pb.DescriptorProto) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for each in message.field:
        if each.HasField("oneof_index") and not each.proto3_optional:
            found.setdefault(message.oneof_decl[each.oneof_index].name, []).append(each.number)
    return found


def _types(file: ProtoFile) -> dict[str, _Named]:
    """Every message that can be referred to, by its full name as it stands in fields."""
    found = dict(_named_in(file.resolved, is_imported=False))
    waiting = list(file.resolved.dependency)
    others = dict(file.all_others())
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        other = others[name].resolved if name in others else builtin(name)
        if other is not None:
            found |= dict(_named_in(other, is_imported=True))
            waiting += other.dependency
    return found


def _named_in(file: pb.FileDescriptorProto, *, is_imported: bool) -> Iterator[tuple[str, _Named]]:
    prefix = f".{file.package}." if file.package else "."
    waiting = [(each.name, each) for each in file.message_type]
    while waiting:
        local, message = waiting.pop()
        yield prefix + local, _Named(message, local, is_imported)
        waiting += ((f"{local}.{each.name}", each) for each in message.nested_type)
